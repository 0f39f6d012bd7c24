import pg from 'pg';

/**
 * Loaded before the service: removes the insert of events from every statement when it is prepared. The service has no
 * such option.
 */

const EVENT_INSERT = /\b\w+ AS \(\s*INSERT INTO events\b/;

const connection = (pg as unknown as { Connection: { prototype: { parse(query: { text: string }): void } } })
  .Connection;
const { parse } = connection.prototype;
connection.prototype.parse = function (query) {
  parse.call(this, EVENT_INSERT.test(query.text) ? { ...query, text: removeEventInsert(query.text) } : query);
};

/** The CTE keeps its parameters, because a parameter that is not in the text has no type. */
function removeEventInsert(text: string): string {
  const start = EVENT_INSERT.exec(text)?.index ?? 0;
  const bodyStart = text.indexOf('(', start);
  let end = bodyStart;
  for (let depth = 0; ; end++) {
    if (text[end] === '(') depth++;
    if (text[end] === ')' && --depth === 0) break;
  }
  const parameters = [...new Set(text.slice(bodyStart, end).match(/\$\d+::\w+/g))];
  return `${text.slice(0, bodyStart)}(SELECT ${parameters.join(', ')}${text.slice(end)}`;
}
