-- due_work.notify (writes; pool: short)
SELECT pg_notify('due_work', '');

