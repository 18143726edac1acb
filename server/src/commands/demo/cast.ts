import { randomBytes } from 'node:crypto'
import { type Caller, callerAt } from './caller.ts'
import { require, type Stage } from './stage.ts'

/** The service's URL, the tenant, and a key of its owner. */
export type Place = { base_url: string; tenant_id: string; api_key: string }

/** A user of the demo, signed in. */
export type Person = Caller & { id: string; name: string; email: string; password: string }

export type Cast = {
  owner: Caller
  ada: Person
  ben: Person
  cleo: Person
  dan: Person
  /** The id of the group of this run's users: the rules of this run apply only to its members. */
  group: string
}

/** The accounts of the demo; the numbers are not real. */
export const production = { id: '111122223333', name: 'shop-production' }
export const playground = { id: '444455556666', name: 'shop-playground' }

/** Creates new users with addresses of this run's own, and signs each of them in. */
export async function gather(stage: Stage, { base_url, tenant_id, api_key }: Place): Promise<Cast> {
  const owner = callerAt(base_url, { 'x-tenant-id': tenant_id, 'x-api-key': api_key })
  const run = randomBytes(4).toString('hex')
  const domain = `${run}.demo.example`
  const { id: group } = await owner.ask<{ id: string }>(201, 'POST', '/v1/groups', { name: `Demo ${run}` })

  async function join(name: string, roles: string[]): Promise<Person> {
    const email = `${name.toLowerCase()}@${domain}`
    const password = randomBytes(18).toString('base64url')
    const { id } = await owner.ask<{ id: string }>(201, 'POST', '/v1/users', { email, name, password, roles })
    await owner.ask(201, 'POST', `/v1/groups/${group}/members`, { user_id: id })
    const anybody = callerAt(base_url, { 'x-tenant-id': tenant_id })
    const signedIn = await anybody.ask<{ token: string }>(200, 'POST', '/v1/auth/login', { email, password })
    return {
      ...callerAt(base_url, { 'x-tenant-id': tenant_id, authorization: `Bearer ${signedIn.token}` }),
      id,
      name,
      email,
      password,
    }
  }

  stage.scene('The users')
  const [ada, dan, ben, cleo] = await stage.step(
    'Ada and Dan are engineers, Ben and Cleo are approvers; Ada is both. Each signs in',
    () =>
      Promise.all([
        join('Ada', ['user', 'approver']),
        join('Dan', ['user']),
        join('Ben', ['approver']),
        join('Cleo', ['approver']),
      ]),
    () => `ada@${domain}, dan@…, ben@…, cleo@…: created for this run only, in the group Demo ${run}`,
  )
  return { owner, ada, ben, cleo, dan, group }
}

/** Fills the account cache and writes the policy. */
export async function setUp(stage: Stage, cast: Cast): Promise<void> {
  const { owner } = cast
  stage.scene('The owner sets up accounts and a policy')
  await stage.step(
    'The owner adds two accounts with their environments to the account cache',
    async () => {
      const entry = ({ id, name }: typeof production, env: string) => ({ id, account_id: id, name, metadata: { env } })
      const resources = [entry(production, 'production'), entry(playground, 'playground')]
      const { upserted } = await owner.ask<{ upserted: number }>(200, 'PUT', '/v1/cloud/accounts', { resources })
      require(upserted === resources.length, `${upserted} accounts were written, not ${resources.length}`)
    },
    () => `${production.name} ${production.id} env=production · ${playground.name} ${playground.id} env=playground`,
  )
  const policy_id = await stage.step(
    'The owner writes a policy. It applies only to the users of this run:',
    async () => {
      const description = `Created by \`npm run demo\`; applies only to the users of that run.`
      const policy = { name: 'Demo', description }
      return (await owner.ask<{ id: string }>(201, 'POST', '/v1/policies', policy)).id
    },
  )
  for (const { says, ...rule } of rulesFor(cast.group)) {
    await stage.step(says, async () => {
      const made = await owner.ask<{ policy_text: string }>(201, 'POST', `/v1/policies/${policy_id}/rules`, rule)
      require(made.policy_text.includes(cast.group), `the rule reads \`${made.policy_text}\``)
    })
  }
}

/** Five rules, each with its description: one from structured fields, the others in Cedar. */
function rulesFor(group: string) {
  const people = `principal in Group::"${group}"`
  const tagged = (env: string) => `resource.hasTag("env") && resource.getTag("env") == "${env}"`
  return [
    {
      says: '  permit: users may request ReadOnlyAccess to an account; a person decides',
      effect: 'permit',
      action_scope_type: 'eq',
      action_ids: ['ReadOnlyAccess'],
      resource_scope_type: 'is',
      resource_entity_type: 'cloud_account',
      conditions: `when { ${people} }`,
    },
    {
      says: '  permit, auto: on the playground at once, for at most an hour',
      policy_text: `@approval_mode("auto")
        permit (principal, action == Action::"ReadOnlyAccess", resource is cloud_account)
        when { ${people} && ${tagged('playground')} && context.duration_seconds <= 3600 };`,
    },
    {
      says: '  forbid, with a notice: AdministratorAccess in production, unless in an emergency',
      policy_text: `@notice("Production is changed by its pipeline. Is something broken? Request with break_glass and give the reason.")
        forbid (principal, action == Action::"AdministratorAccess", resource is cloud_account)
        when { ${people} && ${tagged('production')} } unless { context.break_glass };`,
    },
    {
      says: '  permit, break-glass: AdministratorAccess in an emergency; every approver is notified',
      policy_text: `@approval_mode("break_glass")
        permit (principal, action == Action::"AdministratorAccess", resource is cloud_account) when { ${people} };`,
    },
    {
      says: '  permit: users with the role approver may approve',
      policy_text: `permit (principal in Role::"approver", action == Action::"approve", resource is access_request)
        when { ${people} };`,
    },
  ]
}
