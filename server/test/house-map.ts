/**
 * The map of the house: who may import whom, and which room is the door of an outside library. The rules that hold it are
 * in house-rules.ts, its reasons in docs/architecture.md.
 */
export const slices = [
  ...['auth', 'tenants', 'requests', 'grants', 'policies', 'roles', 'permissions', 'settings', 'users', 'groups'],
  ...['identity-providers', 'api-keys', 'notifications', 'notification-channels', 'cloud', 'scim', 'audit'],
  'provisioners',
]
const everySlice = ['kernel', 'config', 'db', 'http', 'events', 'jobs', 'secrets', 'egress', 'metrics']
const policyRooms = ['', '/cases', '/cedar', '/deciding', '/draft'].map((part) => `policies${part}`)
const everyTarget = ['kernel', 'config', 'egress', 'aws', 'provisioners']

/** Each room, a folder of server/src, and the rooms whose files it may import beside its own. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  config: ['kernel'],
  metrics: ['kernel', 'config'],
  egress: ['kernel', 'config'],
  aws: ['kernel', 'config', 'egress'],
  db: ['kernel', 'config'],
  ...Object.fromEntries(['events', 'jobs', 'secrets'].map((room) => [room, ['kernel', 'db']])),
  http: ['kernel', 'config', 'db', 'secrets'],
  ...Object.fromEntries(slices.map((slice) => [slice, everySlice])),
  'identity-providers': [...everySlice, 'aws'],
  policies: [...everySlice, 'policies/cases', 'policies/cedar', 'policies/deciding'],
  // The language: text, statements, questions. It knows no tenant.
  'policies/cedar': ['kernel', 'policies'],
  'policies/deciding': ['kernel', 'db', 'policies', 'policies/cedar'],
  'policies/nearest': ['kernel', 'db', 'http', 'policies', 'policies/cedar', 'policies/deciding'],
  ...Object.fromEntries(
    ['cases', 'draft', 'file', 'invariants', 'replay'].map((part) => [
      `policies/${part}`,
      [...everySlice, ...policyRooms],
    ]),
  ),
  ...Object.fromEntries(
    ['delivery', 'webhook'].map((part) => [`notification-channels/${part}`, [...everySlice, 'notification-channels']]),
  ),
  'notification-channels/mail': [...everySlice, 'notification-channels', 'notification-channels/mail/templates'],
  // What a mail says: words alone, no database.
  'notification-channels/mail/templates': ['kernel', 'events', 'policies/cedar'],
  // A client like any other: it knows the service by its interface alone.
  demo: [],
  ...Object.fromEntries(
    ['aws-identity-center', 'postgresql', 'webhook'].map((name) => [`provisioners/${name}`, everyTarget]),
  ),
  'provisioners/sandbox': [...everyTarget, 'db'],
}

/** One slice that may import another's noun or store: `'requests → grants': 'approving makes them'`, with the reason. */
export const listedPairs: Readonly<Record<string, string>> = {
  'api-keys → permissions': 'a key holds scopes',
  'api-keys → users': 'a key acts for whoever made it',
  'auth → api-keys': 'a key is a credential',
  'auth → settings': 'a tenant sets its provider',
  'auth → users': 'a token is a user’s',
  'grants → provisioners': 'a grant is given on a target, through the one interface',
  'grants → settings': 'when the holder is told of the end',
  'groups → roles': 'a group gives its members roles',
  'notifications → permissions': 'who is told by what they may do',
  'notifications → roles': 'whoever holds the scope to decide is told',
  'notification-channels/mail → settings': 'a tenant names its sender and its time zone',
  'notification-channels/mail → tenants': 'from which domains it may',
  'identity-providers → api-keys': 'deleting a provider revokes its SCIM keys',
  'notification-channels/webhook → audit': 'a message is an entry of the audit log',
  'policies/replay → requests': 'what was asked before is asked again',
  'provisioners → policies/cedar': 'which types of resource there are',
  'requests → cloud': 'what policy may know of an account',
  'requests → grants': 'an approval makes them, the status view shows them',
  'requests → policies/cedar': 'every request is a question to policy',
  'requests → policies/deciding': 'which is answered there',
  'requests → policies/nearest': 'and, where the answer is no, what would have to be otherwise',
  'requests → settings': 'durations and reasons',
  'requests → users': 'the people of the question',
  'roles → permissions': 'a role holds scopes',
  'settings → permissions': 'whoever names the provider says who people are, and needs every scope',
  'tenants → api-keys': 'the first steps need a key',
  'tenants → policies': 'a tenant starts with a policy',
  'tenants → policies/cedar': 'of one statement',
  'tenants → roles': 'a tenant starts with the system roles',
  'tenants → users': 'a tenant starts with its owner',
  'users → permissions': 'nobody grants a scope they lack',
  'users → policies/cedar': 'a user as policy sees them',
  'users → roles': 'a user holds roles',
  'users → settings': 'how long a password must be',
}

/** The composition roots: they alone put verbs, jobs and subscribers together, and nothing imports them. */
export const entryPoints = [
  'app',
  'serve',
  'watch',
  'main',
  'admin',
  'demo',
  'db-setup',
  'backup',
  'restore',
  'rotate-keys',
].map((name) => `server/src/${name}.ts`)

/** Each library's doors: the folders or files that may import it. A name that ends in `/*` stands for a scope. */
export const doors: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http'],
  '@fastify/*': ['http'],
  typebox: ['http', 'events', 'config', ...slices],
  pg: ['db', 'provisioners/postgresql'],
  'pg-boss': ['jobs'],
  '@cedar-policy/cedar-wasm': ['policies/cedar'],
  jose: ['auth'],
  'openid-client': ['auth'],
  nodemailer: ['notification-channels'],
  scimmy: ['scim'],
  ldapts: ['identity-providers'],
  '@aws-sdk/*': ['aws'],
  pino: ['http'],
  'prom-client': ['metrics'],
  '@opentelemetry/*': ['metrics'],
  commander: ['admin.ts'],
}
