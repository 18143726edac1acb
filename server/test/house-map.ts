/**
 * The map of the house: who may import whom, and which folder is the one entry point of an outside library. The rules that hold
 * it are in house-rules.ts, its reasons in docs/architecture.md. It has no cycle, and lists nothing that is not used.
 */

/** The folders of server/src whose verbs answer endpoints, and what is below them. */
export const slices = [
  ...['auth', 'tenants', 'requests', 'grants', 'policies', 'policy-analysis', 'roles', 'permissions', 'settings'],
  ...['users', 'groups', 'identity-providers', 'api-keys', 'notifications', 'notification-channels', 'cloud', 'audit'],
  'provisioners',
]

/** What every slice may import: the layers below all of them. */
const foundations = ['kernel', 'config', 'db', 'http', 'events', 'jobs', 'secrets', 'egress']
const engine = ['policy-engine', 'policy-engine/cedar', 'policy-engine/deciding']
const ofTarget = ['kernel', 'config', 'provisioners']

/** Each module, a folder of server/src, and the modules whose files it may import beside its own. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  config: ['kernel'],
  egress: ['kernel', 'config'],
  aws: ['kernel', 'config', 'egress'],
  'db/client': ['kernel'],
  db: ['kernel', 'config', 'db/client'],
  'embedded-postgres': ['config', 'db', 'db/client'],
  backup: ['db', 'db/client'],
  ...Object.fromEntries(['events', 'jobs', 'secrets'].map((layer) => [layer, ['kernel', 'db']])),
  http: ['kernel', 'config', 'db', 'secrets'],
  // No tenant, no database: text, statements, questions.
  'policy-engine/cedar': ['kernel', 'policy-engine'],
  'policy-engine': [],
  'policy-engine/deciding': ['kernel', 'db', 'policy-engine', 'policy-engine/cedar'],
  'policy-engine/near-misses': ['kernel', ...engine],
  // The text about each event: pure, no tenant, no database.
  messages: ['kernel', 'events', 'policy-engine/cedar'],
  ...Object.fromEntries(slices.map((slice) => [slice, foundations])),
  policies: [...foundations, ...engine, 'policies/cases'],
  'policies/cases': [...foundations, ...engine],
  'policies/drafts': [...foundations, ...engine, 'policies'],
  'policies/files': [...foundations, ...engine, 'policies', 'policies/cases'],
  'policy-analysis': [...foundations, ...engine, 'policies/cases', 'policies/drafts'],
  'policy-analysis/invariants': [...foundations, ...engine, 'policies/drafts'],
  'policy-analysis/replay': [...foundations, ...engine, 'policies/drafts'],
  'notification-channels/delivery': [...foundations, 'notification-channels'],
  'notification-channels/webhook': [...foundations, 'notification-channels'],
  'notification-channels/mail': [...foundations, 'notification-channels', 'messages'],
  'provisioners/aws-identity-center': [...ofTarget, 'aws'],
  'provisioners/postgresql': ofTarget,
  'provisioners/webhook': [...ofTarget, 'egress'],
  'provisioners/sandbox': [...ofTarget, 'db'],
  // What operators watch is a number of every module that has work waiting.
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
  // What an operator starts beside the service.
  commands: [
    'kernel',
    'config',
    'db',
    'db/client',
    'embedded-postgres',
    'backup',
    'secrets',
    'auth',
    'tenants',
    'notification-channels/mail',
    'commands/demo',
  ],
  // A client like any other: it knows the service by its interface alone.
  'commands/demo': [],
}

/** One slice that may import another's noun, store or flow: `'requests → grants': 'approving makes them'`, with the reason. */
export const listedPairs: Readonly<Record<string, string>> = {
  'api-keys → permissions': 'a key holds scopes',
  'api-keys → users': 'a key acts for whoever made it',
  'auth → api-keys': 'a key is a credential',
  'auth → settings': 'a tenant sets its provider',
  'auth → users': 'a token is a user’s',
  'grants → db/client': 'a worker sees whether the database can be reached',
  'grants → provisioners': 'a grant is given on a target, through the one interface',
  'grants → settings': 'when the holder is notified of the end',
  'groups → roles': 'a group gives its members roles',
  'identity-providers → api-keys': 'deleting a provider revokes its SCIM keys',
  'notification-channels/mail → settings': 'a tenant names its sender and its time zone',
  'notification-channels/mail → tenants': 'from which domains it may',
  'notification-channels/webhook → audit': 'a message is an entry of the audit log',
  'notifications → messages': 'the text about an event',
  'notifications → permissions': 'who is notified by what they may do',
  'notifications → roles': 'an approver is notified',
  'policy-analysis/replay → requests': 'what was asked before is asked again',
  'provisioners → policy-engine/cedar': 'which types of resource there are',
  'requests → cloud': 'what policy may know of an account',
  'requests → grants': 'an approval makes them, the status view shows them',
  'requests → policies': 'the policy that a near miss is in, by name',
  'requests → policy-engine': 'what a rule is',
  'requests → policy-engine/cedar': 'every request is a question to policy',
  'requests → policy-engine/deciding': 'which is answered there',
  'requests → policy-engine/near-misses': 'and, where the answer is no, what would have to be otherwise',
  'requests → settings': 'durations and reasons',
  'requests → users': 'the people of the question',
  'roles → permissions': 'a role holds scopes',
  'settings → permissions': 'setting the sign-in provider needs every scope',
  'tenants → api-keys': 'the first steps need a key',
  'tenants → policies': 'a tenant starts with a policy',
  'tenants → policy-engine/cedar': 'of one statement',
  'tenants → roles': 'a tenant starts with the system roles',
  'tenants → users': 'a tenant starts with its owner',
  'users → permissions': 'nobody grants a scope they lack',
  'users → policy-engine/cedar': 'a user as policy sees them',
  'users → roles': 'a user holds roles',
  'users → settings': 'how long a password must be',
}

/** The composition roots: they alone put verbs, jobs and subscribers together, and nothing imports them. */
export const entryPoints = ['app', 'serve', 'start', 'main'].map((name) => `server/src/${name}.ts`)

/** Each library's entry points: the folders or files that may import it. A name that ends in `/*` stands for a scope. */
export const doors: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http'],
  '@fastify/*': ['http'],
  typebox: ['http', 'policy-engine', ...slices.filter((slice) => slice !== 'tenants')],
  pg: ['db', 'provisioners/postgresql'],
  '@cedar-policy/cedar-wasm': ['policy-engine/cedar'],
  jose: ['auth'],
  'openid-client': ['auth'],
  nodemailer: ['notification-channels'],
  '@aws-sdk/*': ['aws'],
  'prom-client': ['metrics'],
  commander: ['commands/admin.ts'],
}
