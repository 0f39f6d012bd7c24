-- migrations.last (reads; pool: short)
SELECT max(version) AS version FROM migrations;

