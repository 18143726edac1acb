import pg from 'pg'
import { openAwsTarget } from './aws-stage.ts'
import { configOf, letMakeLogins, setUpByGuide } from './postgresql-stage.ts'
import { startTargetPostgres, type TargetPostgres } from './target-postgres.ts'
import { startReceiver } from './webhook-receiver.ts'

/** A target outside of Sallyport, as a test of what happens there needs it. */
export type RealTarget = {
  /** The body with which its provisioner is made. */
  provisioner: Record<string, unknown>
  /** What is requested there: the same access for each person. */
  wanted: { resource: { type: string; id: string }; action: string; metadata?: Record<string, unknown> }
  /** The target learns the secrets that Sallyport generated. */
  onMade(shown_once: Record<string, string>): void
  /** Makes the person known there. */
  admit(email: string): Promise<void>
  /** The addresses of the people who hold the access now, sorted. */
  holders(): Promise<string[]>
  stop(): Promise<void>
}

const account = '111111111111'
const orders = `arn:aws:rds:eu-west-1:${account}:db:orders`

/** A server of the customer's. `made`: Sallyport makes a login for each grant. */
export async function postgresqlTarget({ made = false } = {}): Promise<RealTarget & { server: TargetPostgres }> {
  const server = await startTargetPostgres(18)
  await setUpByGuide(server)
  if (made) await letMakeLogins(server)
  const config = configOf(server, { resource_ids: [orders], ...(made && { makes_logins: true }) })
  const emails = new Set<string>()
  return {
    server,
    provisioner: {
      name: 'orders',
      provisioner_type: 'postgresql',
      config,
      serves: [{ resource_type: 'cloud_db_instance', account_ids: [account] }],
    },
    wanted: { resource: { type: 'cloud_db_instance', id: orders }, action: 'read' },
    onMade: () => undefined,
    async admit(email) {
      emails.add(email)
      if (!made) await server.asSuperuser(`create role ${pg.escapeIdentifier(email)} login connection limit 20`)
    },
    async holders() {
      const rows = await server.asSuperuser<{ login: string }>(
        `select l.rolname::text as login from pg_auth_members m join pg_roles l on l.oid = m.member
          where m.roleid = 'app_readonly'::regrole and l.rolname <> 'sallyport'`,
      )
      const logins = rows.map(({ login }) => login)
      const ownerOf = (login: string) =>
        [...emails].find((email) => login.startsWith(`${email.split('@')[0]}_`)) ?? login
      return (made ? logins.map(ownerOf) : logins).sort()
    },
    stop: server.stop,
  }
}

/** An organization whose buckets Sallyport opens by sets of its own. */
export async function awsTarget(): Promise<RealTarget & { aws: Awaited<ReturnType<typeof openAwsTarget>>['aws'] }> {
  const { aws, config, role_arn, accounts } = await openAwsTarget()
  const { external_id: _, ...given } = config
  const emails = new Map<string, string>()
  return {
    aws,
    provisioner: {
      name: 'our AWS organization',
      provisioner_type: 'aws-identity-center',
      config: given,
      serves: [{ resource_type: 'cloud_storage_bucket' }, { resource_type: 'cloud_account' }],
    },
    wanted: {
      resource: { type: 'cloud_storage_bucket', id: 'play-logs' },
      action: 'read',
      metadata: { account_id: accounts[0] },
    },
    onMade: ({ external_id = '' }) => aws.setExternalId(role_arn, external_id),
    async admit(email) {
      emails.set(aws.addUser(email), email)
    },
    holders: async () =>
      aws
        .assignments()
        .map(({ principal }) => emails.get(principal) ?? principal)
        .sort(),
    stop: async () => undefined,
  }
}

/** A receiver that lists what it holds. */
export async function webhookTarget(): Promise<RealTarget & { receiver: Awaited<ReturnType<typeof startReceiver>> }> {
  const receiver = await startReceiver('whsec_')
  return {
    receiver,
    provisioner: {
      name: 'Door system',
      provisioner_type: 'webhook',
      config: { url: receiver.url, lists: true },
      serves: [{ resource_type: 'cloud_account' }],
    },
    wanted: { resource: { type: 'cloud_account', id: account }, action: 'open' },
    onMade: ({ signing_secret = '' }) => {
      receiver.secret = signing_secret
    },
    admit: async () => undefined,
    holders: async () =>
      [...receiver.kept.values()].map(({ user }) => String((user as { email: string }).email)).sort(),
    stop: receiver.stop,
  }
}
