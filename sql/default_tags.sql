-- default_tags.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT t.* FROM default_tags t WHERE true)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('tag', t.tag) ORDER BY t.tag), '[]')::text
          FROM (SELECT * FROM listed t ORDER BY t.tag
                 LIMIT $1::int OFFSET $2::int) t) AS json;

-- default_tags.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT t.* FROM default_tags t WHERE true AND (t.tag LIKE lower($3::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('tag', t.tag) ORDER BY t.tag), '[]')::text
          FROM (SELECT * FROM listed t ORDER BY t.tag
                 LIMIT $1::int OFFSET $2::int) t) AS json;

