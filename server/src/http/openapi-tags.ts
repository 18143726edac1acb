/** The tags of the document in its order: the first word of an operation's path, and what its operations are about. */
const tags: Readonly<Record<string, string>> = {
  auth: 'Sign-in, browser sessions, and the links of invitations and the setup',
  catalogue: 'What the caller can request',
  requests: 'Requests of access, and their decisions',
  grants: 'Access that was given, until it ends',
  access: 'Where the access of a request stands',
  users: 'Users and their roles; under `/v1/users/me`, what belongs to the caller',
  groups: 'Groups, their members and roles',
  invitations: 'People who are to join',
  roles: 'Roles, their scopes and holders',
  permissions: 'The scopes that a role can have',
  'api-keys': 'API keys, with which programs call',
  policies: 'Policies and their rules, with cases, replays, invariants, and who gains by a draft',
  actions: 'What the actions that rules and requests name mean',
  settings: 'Settings of the tenant, of its sign-in and of AI providers',
  'identity-providers': 'Directories that users and groups come from',
  provisioners: 'The targets at which access is given',
  cloud: 'The cache of cloud accounts',
  'notification-channels': 'Mailboxes and webhooks that get messages, and their deliveries',
  'audit-events': 'The audit log',
  stream: 'Hints of what changed, while it changes',
  rehearsal: 'People and rules to try with, before the tenant is live',
  tenant: 'The tenant itself',
  health: 'Checks for a supervisor and a load balancer',
}

/** Declares the tags that the operations of a document have. */
export function declareTags(used: ReadonlySet<string>): { name: string; description: string }[] {
  return Object.entries(tags).flatMap(([name, description]) => (used.has(name) ? { name, description } : []))
}
