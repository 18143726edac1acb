import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { type Browser, browsersOf, ownSessions, publicUrl } from '../support/browser.ts'
import { testDatabase } from '../support/database.ts'
import { cheapPassword, houseOn, type TestTenant } from '../support/house.ts'
import { programsOf } from '../support/program.ts'
import { until } from '../support/wait.ts'

/** Two services on one database. Both cache what credentials prove, and follow the other’s changes. */
const db = await testDatabase()
const options = { env: { PUBLIC_URL: publicUrl }, rootKey: Buffer.alloc(32, 't'), follows: true }
const [first, second] = [await houseOn(db, options), await houseOn(db, options)]
const browsers = browsersOf(first)

let tenant: TestTenant
beforeEach(async () => {
  tenant = await first.tenant('two processes')
  await until('both follow changes', async () => first.app.followsChanges() && second.app.followsChanges())
})

type Seen = { at: typeof first; by: 'cookie' | 'token' }
const everywhere: Seen[] = [first, second].flatMap((at) => [
  { at, by: 'cookie' },
  { at, by: 'token' },
])

async function statusOf(browser: Browser, { at, by }: Seen): Promise<number> {
  const { cookie, token } = browser
  const held = by === 'cookie' ? { headers: { ...browsers.page, cookie } } : { token, tenant_id: tenant.tenant_id }
  return (await at.call({ method: 'GET', url: ownSessions, ...held })).status
}

/** The statuses of cookie and token at the first process, then at the second. */
async function statusesOf(browser: Browser): Promise<number[]> {
  const statuses: number[] = []
  for (const seen of everywhere) statuses.push(await statusOf(browser, seen))
  return statuses
}

/** A browser whose cookie and token both processes know, and have cached. */
async function known(person = tenant.owner): Promise<Browser> {
  const browser = await browsers.signIn(tenant.tenant_id, person.user_id)
  for (let time = 0; time < 2; time += 1) assert.deepEqual(await statusesOf(browser), [200, 200, 200, 200])
  return browser
}

/** The process that ended it refuses its credentials in its very next answer; the other does once it is notified. */
async function isOver(browser: Browser): Promise<void> {
  const [cookie, token] = await statusesOf(browser)
  assert.deepEqual([cookie, token], [401, 401], 'it is alive in the process that ended it')
  await until('the other process refuses it too', async () =>
    (await statusesOf(browser)).every((status) => status === 401),
  )
}

const byOwner = (method: string, url: string, body?: unknown) => {
  const call = { method, url, token: tenant.owner.token, tenant_id: tenant.tenant_id }
  return first.call({ ...call, ...(body !== undefined && { body }) })
}

/** Ways to end one’s own session, or that of one’s browser. */
const ways: Record<string, (browser: Browser) => Promise<unknown>> = {
  'by a sign-out': (browser) => browser.send('POST', '/v1/auth/logout'),
  'by its id': (browser) => byOwner('DELETE', `${ownSessions}/${browser.session_id}`),
  'with all others': () => byOwner('DELETE', ownSessions),
  'by a changed password': () =>
    byOwner('POST', '/v1/users/me/password', {
      ...{ current_password: cheapPassword.text, new_password: 'another long password' },
    }),
  'by another sign-in of its browser': ({ cookie }) => browsers.signIn(tenant.tenant_id, tenant.owner.user_id, cookie),
}

suite('a session that one process ends is refused by both', () => {
  for (const [name, end] of Object.entries(ways)) {
    test(`${name} (A6)`, async () => {
      const browser = await known()
      await end(browser)
      await isOver(browser)
    })
  }

  for (const [name, method, path, body] of [
    ['because its user is deactivated', 'PATCH', '', { active: false }],
    ['because its user is suspended', 'POST', '/suspend', undefined],
    ['because its user is deleted', 'DELETE', '', undefined],
  ] as const) {
    test(`${name} (A6)`, async () => {
      const browser = await known(tenant.people.user)
      const reply = await byOwner(method, `/v1/users/${tenant.people.user.user_id}${path}`, body)
      assert.ok(reply.status < 300, reply.text)
      await isOver(browser)
    })
  }
})

test('a session that has begun in one process is at once good in the other', async () => {
  const browser = await browsers.signIn(tenant.tenant_id, tenant.owner.user_id)
  assert.equal(await statusOf(browser, { at: second, by: 'cookie' }), 200)
})

suite('the notice to other processes', () => {
  /** Whatever ends sessions meanwhile gives no notice, as if it were lost. */
  async function withoutNotices(act: () => Promise<void>): Promise<void> {
    await db.asSuperuser('alter table user_session disable trigger user_session_gone')
    try {
      await act()
    } finally {
      await db.asSuperuser('alter table user_session enable trigger user_session_gone')
    }
  }

  for (const [name, end] of Object.entries(ways)) {
    test(`is not needed by the process that ends a session ${name} (A6)`, () =>
      withoutNotices(async () => {
        const browser = await known()
        await end(browser)
        assert.deepEqual((await statusesOf(browser)).slice(0, 2), [401, 401])
      }))
  }

  test('is not needed by the process in which a used refresh token comes again (A6)', () =>
    withoutNotices(async () => {
      const programs = programsOf(first)
      const program = await programs.signIn(tenant.tenant_id, tenant.owner)
      await programs.next(program)
      const statuses = async () => [await programs.statusWith(program), await programsOf(second).statusWith(program)]
      for (let time = 0; time < 2; time += 1) assert.deepEqual(await statuses(), [200, 200])
      await programs.usedAgo(program, 11)
      assert.equal((await programs.refresh(program.refresh_token)).status, 401)
      assert.equal(await programs.statusWith(program), 401)
    }))

  test('may be lost: then the other process refuses the session once what it knows is too old (A6)', () =>
    withoutNotices(async () => {
      const browser = await known()
      await browser.send('POST', '/v1/auth/logout')
      await isOver(browser)
    }))

  test('is sent with the end of a living session, and not with the clearing of one that has ended (A6)', async () => {
    const listener = await connectAlone(first.service)
    first.atEnd(() => listener.end())
    const noticed: (string | undefined)[] = []
    listener.on('notification', ({ payload }) => noticed.push(payload))
    await listener.query('listen sallyport_authority')
    const ofTenant = () => noticed.filter((payload) => payload === tenant.tenant_id).length
    const [ended, cleared] = [await known(), await known()]
    await db.asSuperuser(`update user_session set live_until = clock_timestamp() - interval '1 second' where id = $1`, [
      cleared.session_id,
    ])
    const before = ofTenant()
    await db.asSuperuser('delete from user_session where id = $1', [cleared.session_id])
    await db.asSuperuser('delete from user_session where id = $1', [ended.session_id])
    await until('a notice arrives', async () => ofTenant() > before)
    assert.equal(ofTenant(), before + 1)
  })
})
