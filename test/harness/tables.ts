/** SQL condition on `table_name`: partitions are left out, because their rows are those of the table that they are part of. */
export const NOT_A_PARTITION = `table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)`;
