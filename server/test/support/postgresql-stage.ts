import pg from 'pg'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import type { Tx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import type { PlanInput } from '../../src/provisioners/driver.ts'
import { postgresql } from '../../src/provisioners/postgresql/postgresql.ts'
import type { Break, Stage } from '../conformance/stage.ts'
import { guideSql } from './guide-sql.ts'
import { type TargetPostgres, targetDatabase } from './target-postgres.ts'

export const ownPassword = 'a long password'
const orders = 'arn:aws:rds:eu-west-1:123456789012:db:orders'
const quoted = pg.escapeIdentifier

/** Sets the server up once as the guide says: its roles, a table to read, and the guide's two actions. */
export async function setUpByGuide(server: TargetPostgres): Promise<void> {
  await server.asSuperuser('create table orders as select 42 as number')
  await server.asSuperuser(guideSql(server.major))
  const passing = server.major >= 16 ? 'admin true, inherit false, set false' : 'admin option'
  // With a name that needs quoting.
  await server.asSuperuser(`create role "app ""write""; --" nologin; grant insert on orders to "app ""write""; --";
    grant "app ""write""; --" to sallyport with ${passing}`)
}

/** The guide's further steps, for Sallyport to open and close logins. */
export async function letManageLogins(server: TargetPostgres): Promise<void> {
  await server.asSuperuser(guideSql(server.major, 'managed'))
}

/** The guide's further steps, for Sallyport to make logins. */
export async function letMakeLogins(server: TargetPostgres): Promise<void> {
  await server.asSuperuser(guideSql(server.major, 'made'))
}

/** A valid config for it. */
export function configOf(server: TargetPostgres, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    host: server.host,
    port: server.port,
    database: targetDatabase,
    user: 'sallyport',
    password: ownPassword,
    tls: 'off',
    resource_ids: [orders],
    roles: { read: 'app_readonly', write: 'app "write"; --' },
    ...more,
  }
}

export const openingOf = (config: Record<string, unknown>) => ({
  tenant_id: newId(),
  provisioner_id: newId(),
  config,
  previous: {},
  egress: openEgress(readEgressAllow('127.0.0.1,localhost')),
  public_url: 'http://127.0.0.1',
})

/** The driver never uses Sallyport's own database. */
export const noTx = {} as Tx

export function inputOf(login: string, more: Partial<PlanInput> = {}): PlanInput {
  const grant_id = newId()
  return {
    grant_id,
    first_grant_id: grant_id,
    user: { id: newId(), email: login, name: 'Ada', external_id: null },
    resource: { type: 'cloud_db_instance', id: orders },
    account_id: '123456789012',
    permission_set: null,
    action: 'read',
    duration_seconds: 3_600,
    audit_session: false,
    ...more,
  }
}

/** Creates a login as the server's operator does. Returns its name, which is an e-mail address. */
export async function makeLogin(server: TargetPostgres, managed: boolean, password = 'her own'): Promise<string> {
  const login = `${newId()}@example.com`
  const kind = `${managed ? 'nologin' : 'login'} connection limit 20`
  await server.asSuperuser(`create role ${quoted(login)} ${kind} password ${pg.escapeLiteral(password)}`)
  if (managed && server.major >= 16) {
    await server.asSuperuser(`grant ${quoted(login)} to sallyport with admin true, inherit false, set false`)
  }
  return login
}

/** A real server, set up by the guide, for the conformance suite. */
export function postgresqlStage(server: TargetPostgres, managed: boolean): Stage {
  const config = configOf(server, managed ? { manages_logins: true } : {})
  return {
    type: postgresql,
    opening: openingOf(config),
    tx: noTx,
    makeInput: async () => inputOf(await makeLogin(server, managed)),
    others: (input) => [{ ...input, action: 'write' }],
    unknown: inputOf('nobody@example.com'),
    target: targetOf(server, managed),
    tellsWhose: !managed,
    endsByItself: managed,
    breaks: breaksOf(server, managed),
    secrets: [ownPassword],
    faulty: [
      { config: { ...config, roles: { read: 'x'.repeat(64) } }, pointer: '/config/roles/read' },
      { config: { ...config, roles: {} }, pointer: '/config/roles' },
      { config: { ...config, host: '10.0.0.1' }, pointer: '/config/host' },
      { config: { ...config, host: '1.1.1.1' }, pointer: '/config/tls' },
      { config: { ...config, login_from: 'list' }, pointer: '/config/logins' },
      { config: { ...config, email_domain: 'example.com' }, pointer: '/config/email_domain' },
      { config: { ...config, login_from: 'list', logins: { ada: 'ada' } }, pointer: '/config/logins/ada' },
    ],
  }
}

/** Reads and changes the server without the driver, as its superuser. */
function targetOf({ asSuperuser, major }: TargetPostgres, managed: boolean): Stage['target'] {
  const roleOf = (input: PlanInput) => quoted(input.action === 'read' ? 'app_readonly' : 'app "write"; --')
  const access = `from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
    where r.rolname like 'app%' and l.rolname like '%@%'`
  return {
    async sees() {
      const open = `union all select rolname || ' can log in' from pg_roles where rolcanlogin and rolname like '%@%'`
      const rows = await asSuperuser<{ seen: string }>(
        `select concat_ws(' ', r.rolname, l.rolname, m.grantor::regrole) as seen ${access} ${managed ? open : ''}
          order by 1`,
      )
      return rows.map(({ seen }) => seen)
    },
    async holds(input) {
      const rows = await asSuperuser(
        `select 1 ${access} and r.oid = $1::regrole and l.oid = $2::regrole and l.rolcanlogin`,
        [roleOf(input), quoted(input.user.email)],
      )
      return rows.length > 0
    },
    async give(input) {
      const login = quoted(input.user.email)
      await asSuperuser(`grant ${roleOf(input)} to ${login}; alter role ${login} login`)
    },
    async take(input) {
      const login = quoted(input.user.email)
      const givers = await asSuperuser<{ giver: string }>(
        `select m.grantor::regrole::text as giver ${access} and r.oid = $1::regrole and l.oid = $2::regrole`,
        [roleOf(input), login],
      )
      for (const { giver } of givers) {
        await asSuperuser(`revoke ${roleOf(input)} from ${login} ${major >= 16 ? `granted by ${giver}` : ''}`)
      }
      if (managed) await asSuperuser(`alter role ${login} nologin`)
    },
  }
}

function breaksOf(server: TargetPostgres, managed: boolean): Break[] {
  const byHand = (name: string, begin: string, repair: string): Break => ({
    name,
    healthSees: true,
    async begin() {
      await server.asSuperuser(begin)
      return async () => void (await server.asSuperuser(repair))
    },
  })
  // A call to a server that does not answer waits for seconds.
  const hangs: Break = { name: 'it does not answer', healthSees: true, begin: () => server.goAway('hangs') }
  return [
    { name: 'it refuses connections', healthSees: true, begin: () => server.goAway('refuses') },
    ...(managed || server.major < 16 ? [] : [hangs]),
    byHand(
      'the password has changed',
      `alter role sallyport password 'changed';
        select pg_terminate_backend(pid) from pg_stat_activity where usename = 'sallyport'`,
      `alter role sallyport password '${ownPassword}'`,
    ),
    byHand('a role has become powerful', 'alter role app_readonly createrole', 'alter role app_readonly nocreaterole'),
    byHand(
      'it may not end connections',
      'revoke pg_signal_backend from sallyport',
      'grant pg_signal_backend to sallyport',
    ),
  ]
}
