const receivers = 'the sample-receiver.test.ts beside the driver and the channel run it'
const clients = '`npm run test:clients` compiles and runs it'
const aws = 'provisioners/aws-identity-center/rights.test.ts compares it with the calls that are made'
const sql = 'support/guide-sql.ts types it into a PostgreSQL, for the tests of the driver'

/**
 * The blocks of a page that are not for a shell, by the page, the language and the words behind it, and what makes sure that they
 * are right. JSON with the method and path of an operation is compared with its schema, and an `answer` with what the block before it
 * prints; neither is listed here.
 */
export const shown: Readonly<Record<string, string>> = {
  'clients.md go': clients,
  'clients.md json': clients,
  'clients.md python': clients,
  'clients.md ts': clients,
  'clients.md yaml': clients,
  'install.md env': 'compared with the variables of the reference',
  'limits.md http': 'limits/credential.test.ts reads these headers',
  'mail.md env': 'the next block of the page types the same',
  'metrics.md yaml': 'compared with the metrics of the reference',
  'notifications.md js': 'journeys/notification-stream.long.test.ts runs it',
  'operations.md json log': 'an entry of the log, with ids of its own',
  'own-postgresql.md env': 'commands/db-setup.test.ts reads these lines',
  'own-postgresql.md text haproxy': '`npm run test:failover` starts HAProxy with it',
  'policy-cases.md yaml': 'policy-cases.test.ts sends it',
  'policy-replay.md text upgrade': 'commands/upgrade-report.test.ts prints such a report',
  'provisioner-aws-identity-center.md json cut': aws,
  'provisioner-aws-identity-center.md json inventory': aws,
  'provisioner-aws-identity-center.md json operator': aws,
  'provisioner-aws-identity-center.md json role': aws,
  'provisioner-aws-identity-center.md json sessions': aws,
  'provisioner-aws-identity-center.md json statement': 'session-cuts.test.ts writes the same',
  'provisioner-aws-identity-center.md json trust': aws,
  'provisioner-postgresql.md sql': sql,
  'provisioner-postgresql.md sql 15': sql,
  'provisioner-postgresql.md sql 16': sql,
  'provisioner-postgresql.md sql login': sql,
  'provisioner-postgresql.md sql made': sql,
  'provisioner-postgresql.md sql managed': sql,
  'provisioner-postgresql.md sql managed 15': sql,
  'provisioner-postgresql.md sql managed 16': sql,
  'provisioner-postgresql.md sql reserved 16': sql,
  'provisioner-webhook.md js': receivers,
  'provisioner-webhook.md json reply': 'provisioners/webhook tests the parts of such an answer',
  'provisioners.md json serves': 'a part of a provisioner',
  'second-factor.md json challenge': 'test/second-factor reads these details',
  'second-factor.md http': 'test/second-factor makes this call',
  'sessions.md text': 'test/oidc sends a logout token there',
  'sign-in.md http': 'test/oidc makes these calls',
  'sign-in.md text': 'test/oidc returns there',
  'stream.md js': 'needs the functions of a page; journeys/notification-stream.long.test.ts runs `listen`',
  'stream.md text stream': 'what arrives depends on what happens',
  'webhook-channels.md js': receivers,
  'webhook-channels.md json message': 'compared with the schema of the message',
  'when-sallyport-is-down.md sql target': 'journeys/postgresql-access.test.ts types it',
}
