import pg from 'pg'
import { keyOf } from '../../src/provisioners/postgresql/held-role.ts'
import { configOf, setUpByGuide } from '../support/postgresql-stage.ts'
import { startTargetPostgres } from '../support/target-postgres.ts'
import { actionsByMode } from './company.ts'
import { meet } from './crash-points.ts'
import type { ApprovalMode, FieldTarget, TargetCall } from './field-target.ts'
import { startWireProxy } from './wire-proxy.ts'

const orders = 'arn:aws:rds:eu-west-1:123456789012:db:orders'

/** Enough roles that the users of a company do not soon hold all of them. */
const rolesPerMode = 40

const statements: Readonly<Record<Exclude<TargetCall, 'poll'>, RegExp>> = {
  create: /^grant /,
  delete: /^revoke /,
  verify: /as is_held/,
}

/** A customer's real PostgreSQL, set up as the guide says, behind a proxy that parses the protocol. */
export async function openPostgresqlField(): Promise<FieldTarget> {
  const server = await startTargetPostgres(18)
  await setUpByGuide(server)
  const actionsOf = (mode: ApprovalMode) =>
    Array.from({ length: rolesPerMode }, (_, at) => `${actionsByMode[mode]}${at}`)
  const roles = (Object.keys(actionsByMode) as ApprovalMode[]).flatMap(actionsOf)
  for (const role of roles.map(pg.escapeIdentifier)) {
    await server.asSuperuser(`create role ${role} nologin`)
  }
  const proxy = await startWireProxy({ host: server.host, port: server.port })
  const config = configOf(server, {
    port: proxy.port,
    resource_ids: [orders],
    roles: Object.fromEntries(roles.map((role) => [role, role])),
  })
  const givers: string[] = []
  let requests = 0
  /** A separate role for each company that Sallyport signs in as: grants made by the role belong to that company. */
  const makeGiver = async () => {
    const giver = `sallyport_${givers.length}`
    givers.push(giver)
    const passing = 'with admin true, inherit false, set false'
    await server.asSuperuser(`create role ${giver} login password ${pg.escapeLiteral(String(config.password))};
      grant pg_signal_backend to ${giver} with inherit true, set false;
      grant ${roles.map(pg.escapeIdentifier).join()} to ${giver} ${passing}`)
    return giver
  }
  let comeBack: (() => Promise<void>) | undefined
  return {
    type: 'postgresql',
    env: { EGRESS_ALLOW: '127.0.0.1' },
    furnish: async () => ({
      body: { config: { ...config, user: await makeGiver() }, serves: [{ resource_type: 'cloud_db_instance' }] },
      adopt: () => undefined,
    }),
    async welcome(email) {
      await server.asSuperuser(`create role ${pg.escapeIdentifier(email)} login connection limit 20`)
    },
    place(mode) {
      requests += 1
      return {
        resource: { type: 'cloud_db_instance', id: orders },
        action: actionsOf(mode)[requests % rolesPerMode] ?? '',
      }
    },
    actionsOf,
    setOnAccounts: undefined,
    async holds() {
      const rows = await server.asSuperuser<{ role: string; login: string; granted_by: string }>(
        `select r.rolname as role, l.rolname as login, m.grantor::regrole::text as granted_by from pg_auth_members m
          join pg_roles r on r.oid = m.roleid
          join pg_roles l on l.oid = m.member where m.grantor::regrole::text = any ($1)`,
        [givers],
      )
      const rest = { granted_by_oid: '', role_oid: '', login_oid: '', manages_login: false, made: false }
      return rows.map((row) => keyOf({ server: `${server.host}:${proxy.port}`, ...row, ...rest }))
    },
    meet(call, moment, isStruck) {
      if (call === 'poll') return
      const point = { name: call, what: call, moment, in: [statements[call]] }
      const strike = () => (isStruck() ? proxy.freeze() : undefined)
      proxy.listen(meet(point, strike, async () => true))
    },
    pass: () => proxy.listen({}),
    failsPlans: true,
    injectable: [],
    // It can be reachable or not; it has no other faults.
    async inject({ throttled = 0 }) {
      await comeBack?.()
      comeBack = throttled > 0 ? await server.goAway('refuses') : undefined
    },
    async close() {
      await proxy.close()
      await server.stop()
    },
  }
}
