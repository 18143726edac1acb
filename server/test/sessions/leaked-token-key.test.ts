import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { rotateKeys } from '../../src/commands/rotate-keys.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Browser, browsersOf, publicUrl } from '../support/browser.ts'
import { testDatabase } from '../support/database.ts'
import { houseOn, type TestTenant } from '../support/house.ts'

/** A token key leaked, and the operator replaces it while the service runs. */
const rootKey = Buffer.alloc(32, 'l')
const house = await houseOn(await testDatabase(), { env: { PUBLIC_URL: publicUrl }, rootKey })
const browsers = browsersOf(house)

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('leaked token key')
})
/** A browser that has begun its session with a token of the key that signs now. */
const begin = () => browsers.signIn(tenant.tenant_id, tenant.people.user.user_id)

/** Runs the command. `pause` stands for the time until the new key takes over, and is called at each check. */
async function replace(pause: () => Promise<void>) {
  const lines: string[] = []
  const config = readConfig({ SECRET_KEY: rootKey.toString('base64') })
  const options = { tokenKey: true, endTokens: true }
  const log = (line: string) => lines.push(line)
  const output = await rotateKeys(config, house.database, options, { log, withPauses: (work) => work(pause) })
  return { lines, text: output.text, data: output.data as { kid: string; signs_from: string; sessions: number } }
}

/** The moment comes at which the new key takes over and the others retire. */
async function takeOver(): Promise<void> {
  await house.asSuperuser(`with moment as (select clock_timestamp() as at),
      newest as (update signing_key set signs_from = at from moment where retires_at is null)
    update signing_key set retires_at = at from moment where retires_at > at`)
}

const count = async () => (await house.asSuperuser('select from user_session')).length

suite('the replacement of a token key that leaked', () => {
  test('ends the sessions of before at once, and at the takeover those that began meanwhile (A7)', async () => {
    const before = await begin()
    const atFirst = await count()
    /** One that begins meanwhile, and one that seems to begin after the takeover. */
    const begun: Browser[] = []
    const statuses = () => Promise.all(begun.map((browser) => browser.status()))
    let checks = 0
    const { lines, text, data } = await replace(async () => {
      checks += 1
      if (checks === 1) {
        assert.deepEqual([await before.status(), await count()], [401, 0], 'a session of before lives')
        begun.push(await begin(), await begin())
        const moment = `(select signs_from from signing_key where retires_at is null)`
        await house.asSuperuser(`update user_session set created_at = ${moment} where id = $1`, [begun[1]?.session_id])
      }
      assert.deepEqual(await statuses(), [200, 200], 'it waits, and ends nothing before the moment')
      if (checks === 3) await takeOver()
    })
    assert.equal(checks, 3)
    assert.deepEqual(await statuses(), [401, 200])
    assert.equal(data.sessions, atFirst + 1)
    assert.equal(lines.length, 1)
    const [line = ''] = lines
    assert.ok(line.includes(`Stay until ${data.signs_from}; if this is interrupted, run it again, which is safe`), line)
    assert.ok(text.includes(`${data.sessions} sessions ended, all that began before ${data.signs_from}`), text)

    const again = await begin()
    assert.equal(await again.status(), 200, 'a new sign-in')
    const byKey = {
      method: 'GET',
      url: '/v1/users?limit=1',
      api_key: tenant.owner.api_key,
      tenant_id: tenant.tenant_id,
    }
    assert.equal((await house.call(byKey)).status, 200, 'an API key')
  })

  test('that was interrupted says what to do, and a second one ends what the first one left (A7)', async () => {
    const begun: Browser[] = []
    const statuses = () => Promise.all(begun.map((browser) => browser.status()))
    const first = replace(async () => {
      begun.push(await begin())
      throw new Error('the database is gone')
    })
    await assert.rejects(first, /^Error: the database is gone; .* run the command again, which is safe/)
    assert.deepEqual(await statuses(), [200])
    await replace(takeOver)
    assert.deepEqual(await statuses(), [401])
    assert.equal(await (await begin()).status(), 200)
  })
})
