/**
 * The import table: which module may import which, and which folders may import each external library. import-rules.ts enforces it;
 * docs/architecture.md gives the reasons. The table has no cycle, and every entry in it is used.
 */

/** The folders of server/src whose verbs answer endpoints, and their subfolders. */
export const slices = [
  ...['auth', 'tenants', 'requests', 'grants', 'policies', 'policy-analysis', 'roles', 'permissions', 'settings'],
  ...['users', 'groups', 'identity-providers', 'api-keys', 'notifications', 'notification-channels', 'cloud', 'audit'],
  'provisioners',
  'sessions',
  'second-factors',
  'me',
  'catalogue',
  'actions',
  'stream',
  'invitations',
  'rehearsal',
  'inventory',
]

/** The layers below the slices; every slice may import them. */
const foundations = ['kernel', 'config', 'db', 'http', 'events', 'jobs', 'secrets', 'egress']
const engine = ['policy-engine', 'policy-engine/cedar', 'policy-engine/deciding']
const ofTarget = ['kernel', 'config', 'provisioners']

/** Each module (a folder of server/src) and the other modules whose files it may import. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  config: ['kernel'],
  log: ['kernel'],
  egress: ['kernel', 'config'],
  aws: ['kernel', 'config', 'egress'],
  'db/client': ['kernel'],
  db: ['kernel', 'config', 'db/client'],
  // Whether the process can serve, and which others share its database.
  health: ['kernel', 'db', 'db/client'],
  'embedded-postgres': ['kernel', 'config', 'db', 'db/client'],
  backup: ['db', 'db/client'],
  console: ['kernel', 'config'],
  ...Object.fromEntries(['events', 'jobs', 'secrets'].map((layer) => [layer, ['kernel', 'db']])),
  http: ['kernel', 'config', 'log', 'db', 'secrets'],
  // Works on text, statements and questions; knows no tenant and no database.
  'policy-engine/cedar': ['kernel', 'policy-engine'],
  'policy-engine': [],
  'policy-engine/deciding': ['kernel', 'db', 'policy-engine', 'policy-engine/cedar'],
  'policy-engine/near-misses': ['kernel', ...engine],
  // What policy may know of a tenant's people and resources.
  'policy-facts': ['kernel', 'db', 'policy-engine/cedar', 'policy-engine/deciding', 'cloud', 'users'],
  // The text about each event; pure, knows no tenant and no database.
  messages: ['kernel', 'events', 'policy-engine/cedar', 'provisioners'],
  // Mails as every slice sends them: the layout, the sender, the one transport.
  mail: ['kernel', 'config', 'db', 'jobs', 'messages'],
  ...Object.fromEntries(slices.map((slice) => [slice, foundations])),
  policies: [...foundations, ...engine, 'policy-facts', 'policies/cases'],
  'policies/cases': [...foundations, ...engine, 'policy-facts'],
  'policies/drafts': [...foundations, ...engine, 'policies'],
  'policies/files': [...foundations, ...engine, 'policy-facts', 'policies', 'policies/cases'],
  'policy-analysis': [...foundations, ...engine, 'policy-facts', 'policies/cases', 'policies/drafts'],
  'policy-analysis/gains': [...foundations, ...engine, 'policy-facts', 'policies/drafts'],
  'policy-analysis/invariants': [...foundations, ...engine, 'policy-facts', 'policies/drafts'],
  'policy-analysis/replay': [...foundations, ...engine, 'policy-facts', 'policies/drafts'],
  'notification-channels/delivery': [...foundations, 'notification-channels'],
  'notification-channels/webhook': [...foundations, 'notification-channels'],
  'notification-channels/email': [...foundations, 'notification-channels', 'messages', 'mail'],
  'provisioners/aws-identity-center': [...ofTarget, 'aws'],
  'provisioners/postgresql': ofTarget,
  'provisioners/webhook': [...ofTarget, 'egress'],
  'provisioners/sandbox': [...ofTarget, 'db'],
  // A client of the API, within the process: it knows the service by its interface.
  'record-pages': ['kernel', 'http'],
  // The metrics count the waiting work of each of these modules.
  metrics: [
    'kernel',
    'config',
    'db',
    'events',
    'jobs',
    'grants',
    'notification-channels/delivery',
    'policy-engine/deciding',
  ],
  // The programs that an operator runs beside the service.
  commands: [
    'kernel',
    'config',
    'db',
    'db/client',
    'embedded-postgres',
    'backup',
    'console',
    'secrets',
    'auth',
    // The address of the service that runs.
    'health',
    'tenants',
    // A tenant that goes live ends what its rehearsal made, and the access to it.
    'rehearsal',
    'requests',
    'mail',
    // What an upgrade changes is asked before it, of the database of the former version.
    'policy-analysis/replay',
    'commands/demo',
  ],
  // An API client like any other: it uses the service only through its HTTP interface.
  'commands/demo': [],
}

/** Pairs of modules where the first may import the second's nouns, stores and flows, each with the reason. */
export const listedPairs: Readonly<Record<string, string>> = {
  'actions → policy-engine/cedar': 'which actions a request can name',
  'api-keys → groups': 'a SCIM key can give what the groups of a directory give',
  'api-keys → permissions': 'a key holds scopes',
  'api-keys → users': 'a key acts for the user who made it',
  'auth → api-keys': 'a key is a credential',
  'auth → invitations': 'a person joins by a link, and is signed in',
  'auth → sessions': 'a sign-in begins a session, and a token belongs to one',
  'auth → groups': 'the claims of a sign-in give groups',
  'auth → roles': 'some roles need a second factor',
  'auth → second-factors': 'a sign-in may need a second factor',
  'auth → settings': 'a tenant sets its provider',
  'auth → tenants': 'the operator gives a tenant its mail domains; a live tenant demands more of a sign-in',
  'auth → users': 'a token belongs to a user',
  'catalogue → actions': 'what an action means, beside it',
  'catalogue → cloud': 'the accounts of the cache are candidates, as policy sees them',
  'catalogue → grants': 'how short access may be',
  'catalogue → inventory': 'the databases and units that a target has are candidates',
  'catalogue → policy-engine/cedar': 'the types of resources that can be requested',
  'catalogue → policy-engine/deciding': 'each candidate is a question to policy',
  'catalogue → policy-facts': 'a resource as policy sees it, and what rules ask beyond the request',
  'catalogue → provisioners': 'a live tenant lists only what is served',
  'catalogue → requests': 'the question is the one that a request would put',
  'catalogue → settings': 'limits of durations, and whether a reason is required',
  'catalogue → users': 'the requester in the policy question',
  'events → jobs': 'the queues of events are due work',
  'grants → actions': 'what the action of a grant means, beside it',
  'grants → cloud': 'the name of the account to which a grant gives access',
  'grants → db/client': 'a worker checks whether the database is reachable',
  'grants → policy-engine/cedar': 'the types of resources, by which grants are listed',
  'grants → provisioners': 'a grant is provisioned at a target through the driver interface',
  'grants → settings': 'the setting for when the holder is notified of the end',
  'grants → users': 'a grant is given only to an active user',
  'groups → permissions': 'a mapping gives scopes',
  'groups → roles': 'a group gives its members roles',
  'identity-providers → api-keys': 'deleting a provider revokes its SCIM keys',
  'inventory → cloud': 'the accounts that a target names are in the account cache',
  'inventory → grants': 'whether a grant gives what somebody holds at a target',
  'inventory → provisioners': 'a driver reads what its target says of itself',
  'inventory → settings': 'which sessions outlive the longest grant',
  'inventory → users': 'which active users a target would not find',
  'invitations → messages': 'the words of the mail',
  'invitations → mail': 'an invitation is mailed where mail is set up',
  'invitations → roles': 'the inviter must hold what the user gets',
  'invitations → sessions': 'the secret of a link has the form of a session’s, and its use begins one',
  'invitations → settings': 'whether a tenant has a provider, and the minimum length of a password',
  'invitations → tenants': 'a mail says whether the tenant rehearses',
  'invitations → users': 'an invitation leads to a user',
  'mail → settings': 'a tenant names its sender',
  'mail → tenants': 'the domains that a tenant may send from, and whether it rehearses',
  'me → auth': 'whether the sign-in of the caller needs a second factor',
  'me → groups': 'the groups of the caller',
  'me → notifications': 'how many notifications of the caller are unread',
  'me → requests': 'the limits of the requests of the caller',
  'me → roles': 'the roles of the caller',
  'me → settings': 'what applies where the caller has chosen nothing',
  'me → tenants': 'the tenant of the caller',
  'me → users': 'the preferences of the caller',
  'notification-channels → mail': 'the answer warns of a sender that is not allowed',
  'notification-channels → tenants': 'whether the tenant was in rehearsal when an event happened',
  'notification-channels/email → cloud': 'the names of the accounts that a mail is about',
  'notification-channels/email → grants': 'whether access that ends was extended',
  'notification-channels/email → settings': 'the time zone of the tenant',
  'notification-channels/email → tenants': 'whether the tenant rehearses',
  'notification-channels/webhook → audit': 'a message carries an entry of the audit log',
  'notification-channels/webhook → tenants': 'a message says whether the tenant was in rehearsal',
  'notifications → cloud': 'the name of the account that a notification is about',
  'notifications → grants': 'whether access that ends was extended',
  'notifications → mail': 'notifications are mailed where mail is set up',
  'notifications → messages': 'the text about an event',
  'notifications → permissions': 'recipients are chosen by their permissions',
  'notifications → roles': 'approvers are notified by their role',
  'notifications → settings': 'the time zone of who has chosen none',
  'notifications → tenants': 'a mail says whether the tenant rehearses',
  'notifications → users': 'only active users are notified',
  'rehearsal → auth': 'a token for a person of the rehearsal is answered as a sign-in',
  'rehearsal → permissions': 'creating the rehearsal needs several scopes',
  'rehearsal → policies': 'the rehearsal has a policy',
  'rehearsal → policies/cases': 'its rules come and go as all rules do',
  'rehearsal → policy-engine': 'the type of a rule',
  'rehearsal → policy-engine/cedar': 'its rules are statements',
  'rehearsal → roles': 'its people have roles',
  'rehearsal → sessions': 'a token belongs to a session',
  'rehearsal → tenants': 'a tenant goes live without its rehearsal',
  'rehearsal → users': 'its people are users',
  'policy-analysis/gains → cloud': 'the kinds of account for which a draft is compared',
  'policy-analysis/gains → settings': 'the time zone by which rules tell the hour, and how long access may last',
  'policy-analysis/gains → users': 'the people for whom a draft is compared',
  'policy-analysis/replay → requests': 'earlier requests are evaluated again',
  'provisioners → policy-engine/cedar': 'the list of resource types',
  'requests → actions': 'what the action of a request means, beside it',
  'requests → cloud': 'the facts about an account that policy evaluates',
  'requests → grants': 'an approval creates grants, the status view shows them',
  'requests → policies': 'the name of the policy that a near miss is in',
  'requests → policy-engine': 'the type of a rule',
  'requests → policy-engine/cedar': 'every request is a question to policy',
  'requests → policy-engine/deciding': 'policy questions are evaluated there',
  'requests → policy-engine/near-misses': 'a denial is explained by its near misses',
  'requests → policy-facts': 'a resource as policy sees it, and what rules ask beyond the request',
  'requests → provisioners':
    'a live tenant refuses what no provisioner serves, and some act in the account that is named',
  'requests → roles': 'rights that a requester gave after their request do not count for deciding it',
  'requests → settings': 'limits of durations, and whether a reason is required',
  'requests → users': 'the requester and the approver in the policy question',
  'provisioners → tenants': 'a tenant goes live with its first real target',
  'roles → permissions': 'a role holds scopes',
  'second-factors → sessions': 'the first second factor ends the sessions without one',
  'settings → groups': 'the sign-in settings map claims to groups',
  'settings → permissions': 'setting the sign-in provider decides who users are, and needs every scope',
  'settings → policy-engine/deciding': 'a setting by which rules decide is part of their version',
  'settings → sessions': 'sessions by the former issuer end when another is set',
  'stream → notifications': 'open streams wait for notifications',
  'stream → permissions': 'a changed record is reported to those whose scopes let them read it',
  'tenants → api-keys': 'a new tenant needs its first key',
  'tenants → policies': 'a tenant starts with a policy',
  'tenants → policy-engine/cedar': 'that policy is one statement',
  'tenants → roles': 'a tenant starts with the system roles',
  'tenants → sessions': 'the secret of a setup link has the form of a session’s',
  'tenants → settings': 'the minimum length of the first owner’s password',
  'tenants → users': 'a tenant starts with its owner',
  'users → groups': 'a user is a member of groups',
  'users → policy-engine/cedar': 'a user as policy sees them',
  'users → roles': 'a user holds roles',
  'users → second-factors':
    'who has a second factor has joined; second factors end with their user, and can be removed for them',
  'users → sessions': 'sessions end with a changed password, and when their user leaves',
  'users → settings': 'the minimum length of a password, and the zone of the first owner’s browser',
}

/** The composition roots: only they import verbs, jobs and subscribers, and no other file imports them. */
export const entryPoints = [
  ...['app', 'operations', 'operation-examples', 'serve', 'start', 'start-report', 'stop-signals', 'main', 'workers'],
  ...['access', 'people', 'sign-in', 'tenant'].map((part) => `${part}-operations`),
].map((name) => `server/src/${name}.ts`)

/** Each external library and the folders or files that may import it. A name that ends in `/*` stands for a scope. */
export const libraryEntryPoints: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http'],
  '@fastify/*': ['http'],
  'fast-json-stringify': ['http'],
  typebox: ['http', 'policy-engine', ...slices.filter((slice) => slice !== 'tenants')],
  pg: ['db', 'provisioners/postgresql'],
  '@cedar-policy/cedar-wasm': ['policy-engine/cedar'],
  jose: ['auth'],
  'openid-client': ['auth'],
  '@simplewebauthn/*': ['second-factors'],
  otpauth: ['second-factors'],
  nodemailer: ['mail'],
  '@aws-sdk/*': ['aws'],
  'prom-client': ['metrics'],
  pino: ['log'],
  commander: ['commands'],
}

/** Where one of Node's modules may be imported: the names that any file may import, and the files that may import the rest. */
type Listed = { harmless?: readonly string[]; at?: Readonly<Record<string, string>> }

/** Node's modules that reach outside the process. Types of theirs may be imported anywhere. */
export const outsideModules: Readonly<Record<string, Listed>> = {
  net: {
    harmless: ['isIP', 'isIPv6', 'BlockList'],
    at: {
      'server/src/embedded-postgres/process.ts': 'looks for a free port',
      'server/src/listening.ts': 'tries the ports before a database is made',
      'server/src/db/listen.ts': 'makes the socket of its connection to the database, to drop it without a handshake',
    },
  },
  http: {
    at: {
      'server/src/egress/call-out.ts': 'the one place that calls out',
      'server/src/metrics/serve-metrics.ts': 'listens at an address of its own',
      'server/src/http/node-server.ts': 'listens for requests',
    },
  },
  https: { at: { 'server/src/egress/call-out.ts': 'the one place that calls out' } },
  'dns/promises': { at: { 'server/src/egress/egress.ts': 'checks each address before it is called' } },
  tls: { harmless: ['checkServerIdentity'] },
  child_process: {
    at: {
      'server/src/embedded-postgres/': 'starts the embedded database',
      'server/src/console/build-console.ts': 'builds the console beside the service, which must not wait for it',
    },
  },
  worker_threads: { at: { 'server/src/kernel/beside': 'long computations run in a thread of their own' } },
  // Imported nowhere: `process` would hide a read of the environment, and the others would call out past egress/.
  ...Object.fromEntries(['process', 'dns', 'http2', 'dgram', 'cluster'].map((name) => [name, {}])),
}
