import assert from 'node:assert/strict'
import { type Misdeed, openHostileProvider, type Realm } from './hostile-provider.ts'
import { type House, openHouse, type Reply, type TestTenant } from './house.ts'
import { anna, own, redirect_uri, signInWays } from './sign-in-stage.ts'

/** The service, one tenant, and a provider for each misdeed. */
export async function openHostileStage() {
  const evil = await openHostileProvider()
  const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
  const tenant = await house.tenant('of a hostile provider')
  const nonsense = { code: 'x', redirect_uri, state: 'x' }
  const answerOfAll = await house.call({ method: 'POST', url: '/v1/auth/callback', body: nonsense })

  /** Configures a correct provider that has this misdeed from then on; returns the steps of a sign-in through it. */
  async function set(misdeed: Misdeed, of: TestTenant = tenant) {
    const realm = evil.realm()
    const ways = signInWays(house, realm, () => of)
    await ways.configure()
    realm.misdeed = misdeed
    realm.received.length = 0
    return { realm, ...ways }
  }

  /** Everything that a sign-in could create or change, except its refusal in the audit log. */
  async function people({ tenant_id }: TestTenant = tenant): Promise<string> {
    const [row] = await house.asSuperuser<{ all: string }>(
      `select (select json_agg(u order by id) from tenant_user u where tenant_id = $1)::text
        || coalesce((select json_agg(r order by user_id, role_id) from user_role r where tenant_id = $1)::text, '')
        || (select count(*) from event where tenant_id = $1
            and type not in ('auth.refused', 'setting.updated'))::text as all`,
      [tenant_id],
    )
    return row?.all ?? ''
  }

  const { unsampled, latest } = successiveTenants(house, tenant)

  const refusals = async ({ tenant_id }: TestTenant = latest()) =>
    house.asSuperuser<{ cause: string; reason: string | null }>(
      `select data ->> 'cause' as cause, data ->> 'reason' as reason from event
        where tenant_id = $1 and type = 'auth.refused' order by seq`,
      [tenant_id],
    )

  /** Asserts the one public answer; only the audit log has the cause. */
  async function assertRefused(reply: Reply, why: RegExp, of: TestTenant = tenant) {
    assert.deepEqual([reply.status, reply.text], [401, answerOfAll.text])
    const last = (await refusals(of)).at(-1)
    assert.match(`${last?.cause}: ${last?.reason}`, why)
  }

  async function assertUnavailable(reply: Reply, of: TestTenant = tenant) {
    assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'], reply.text)
    assert.equal((await refusals(of)).at(-1)?.cause, 'provider_unavailable')
  }

  return {
    evil,
    house,
    tenant,
    set,
    people,
    refusals,
    assertRefused,
    assertUnavailable,
    /** Runs a whole sign-in at a provider with this misdeed and asserts that it fails for this reason and changes nothing. */
    async assertComesToNothing(misdeed: Misdeed, why: RegExp | 'unavailable', account = 'anna'): Promise<void> {
      const of = await unsampled()
      const { realm, walk, finish } = await set(misdeed, of)
      const before = await people(of)
      const reply = await finish(await walk(account, anna))
      if (why === 'unavailable') await assertUnavailable(reply, of)
      else await assertRefused(reply, why, of)
      assert.equal(await people(of), before)
      assertSecretKept(realm)
    },
  }
}

/** Tenants of which every refusal is kept: a hundred an hour are. */
function successiveTenants(house: House, first: TestTenant) {
  let latest = first
  let refused = 0
  return {
    async unsampled(): Promise<TestTenant> {
      if (refused++ % 90 === 0) latest = await house.tenant(`refused ${refused}`)
      return latest
    },
    latest: () => latest,
  }
}

/** The client's secret was sent to the token endpoint, at most once, and nowhere else. */
export function assertSecretKept(realm: Realm): void {
  const secret = Buffer.from(encodeURIComponent(own.client_secret).replaceAll('%20', '+')).toString()
  const holds = (text: string) => [own.client_secret, secret].some((form) => text.includes(form))
  const withSecret = realm.received.filter(({ authorization = '', form }) => {
    const basic = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString()
    return holds(basic) || holds(authorization) || holds(form.toString())
  })
  assert.ok(withSecret.length <= 1 && withSecret.every(({ step }) => step === 'token'))
}

/** Changes claims of a correct provider; undefined removes one. */
export const claiming = (change: Record<string, unknown>): Misdeed => ({ claims: (good) => ({ ...good, ...change }) })
/** Changes the header of the identity token. */
export const heading = (change: Record<string, unknown>): Misdeed => ({ header: (good) => ({ ...good, ...change }) })
