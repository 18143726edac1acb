import { type Exceptions, outside, type Rule } from './rule.ts'

const environmentAt: Exceptions = {
  'server/src/config/': 'the only reader of the environment',
  'server/src/commands/demo.ts': 'a client, with settings of its own',
  'server/src/embedded-postgres/cluster.ts': 'passes the few harmless variables on to its child process',
}

const environmentRead =
  /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[|\benv\b[^=}]*\}\s*=\s*(?:globalThis\.)?process\b/

export const environment: Rule = {
  sentence: 'only config/ reads the environment: other code receives its settings as parameters',
  find: (source) => outside(environmentAt, source, environmentRead, 'reads the environment'),
}

const clockAt: Exceptions = {
  'server/src/kernel/id.ts': 'the time in an id only orders ids; no decision depends on it',
  'server/src/http/pipeline.ts':
    'without a credential the database has not been read yet; such an operation takes no decision on the time',
}

/** `performance.now()` measures durations and may be read anywhere; with its `timeOrigin` it becomes a clock. */
const clockRead = /\bnew Date\b(?!\s*\(\s*[^)\s])|(?<!new\s+)\bDate\(|\bDate\.now\b|\bTemporal\.Now\b|\btimeOrigin\b/

export const clock: Rule = {
  sentence: "no decision depends on the node's own clock: use the database's clock, which `ctx.now` carries",
  find: (source) => outside(clockAt, source, clockRead, "reads the node's clock"),
}

const sqlAt: Exceptions = {
  'server/src/db/': 'the database layer',
  'server/src/events/': 'the event table',
  'server/src/jobs/': 'due work and leases',
  'server/src/provisioners/postgresql/': "sends SQL to the customers' databases",
  'server/src/backup/': 'reads and writes every table',
  'server/src/commands/db-setup.ts': 'creates the roles',
}

const sqlText =
  /\bsql(?:<[^`]*?>)?`|['"`]\s*(?:select\s[^'"`]*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s)/i

export const statements: Rule = {
  sentence: "a slice's SQL is in its `*-store.ts`, where each function takes `tx` first",
  find: (source) => (source.path.endsWith('-store.ts') ? [] : outside(sqlAt, source, sqlText, 'holds SQL')),
}

const statementMadeAt: Exceptions = {
  'server/src/db/sql.ts': 'the tag `sql`',
  'server/src/db/client/query-latency.ts':
    "the client's own question for the server's clock; the tag is above the client",
}

const statementMade =
  /\bas\s+(?:Statement|Fragment)\b|\bsql\s*\(|\btext:\s*['"`]\s*(?:select|insert|update|delete|with|set|begin|commit|rollback|savepoint|release|lock)\b/

export const statementsMade: Rule = {
  sentence: 'only the tag `sql` makes a statement, so a value is never part of its text',
  find: (source) => outside(statementMadeAt, source, statementMade, 'makes a statement without the tag'),
}

const activeAt: Exceptions = {
  'server/src/users/active-store.ts': 'the condition itself',
  'server/src/users/user-store.ts': 'shows the column, with the suspension beside it',
  'server/src/users/lifecycle-store.ts': 'changes the column, and counts the suspension itself',
  'server/src/scim/users/directory-user-store.ts': 'what a directory says, and not whether the user may act',
  'server/src/scim/users/removal-store.ts': 'whom the directory has not stopped yet',
  'server/src/scim/users/holder-store.ts': 'whom a directory has stopped',
  'server/src/scim/users/user-list-store.ts': 'shows a directory what it said',
  'server/src/identity-providers/sync/compare-people-store.ts': 'what a directory says, beside what it said before',
  'server/src/scim/conflicts/conflict-list-store.ts': 'whom a directory has stopped',
}

/** The column of a row of users, or a condition by its bare name. */
const activeRead =
  /\b(?:(?:u|\w*user|person|holder|requester|approver|decider|owner)\.|(?:where|and|or|not)\s+)active\b/i

export const activeUsers: Rule = {
  sentence: 'whether a user is active is asked by `isActive`, because a suspended user is not',
  find: (source) =>
    source.path.endsWith('-store.ts')
      ? outside(activeAt, source, activeRead, 'reads the column', ['comment', 'text'])
      : [],
}

const callsAt: Exceptions = {
  'server/src/commands/demo/caller.ts': 'an API client: it calls the one server that it is given',
}

const call = /(?<![\w.#$])(?:fetch|WebSocket|EventSource)\b|\bglobalThis\s*\[|\bgetBuiltinModule\b/

export const calls: Rule = {
  sentence: "only egress/ calls out, where addresses are checked: no `fetch` and no socket of Node's own elsewhere",
  find: (source) => outside(callsAt, source, call, 'calls out past egress/', ['comment', 'text', 'sql']),
}
