import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { LeftBehind, Plan } from '../../src/provisioners/driver.ts'
import { postgresql } from '../../src/provisioners/postgresql/postgresql.ts'
import { configOf, inputOf, letMakeLogins, noTx, openingOf, setUpByGuide } from './postgresql-stage.ts'
import { startTargetPostgres } from './target-postgres.ts'

export const patient = new AbortController().signal
export const hours = (count: number): Date => new Date(Date.now() + count * 3_600_000)

/** What people sign in with, in place of a password that Sallyport gives. */
const password = 'known'

/** An access role with which people make things: in the schema `public`, and schemas of their own. */
const maker = `create role app_maker nologin; grant create on schema public to app_maker;
  grant create on database shop to app_maker; grant trigger, insert on orders to app_maker;
  grant app_maker to sallyport with admin true, inherit false, set false`

type Wanted = { settings?: Record<string, string>; makes?: boolean; further?: string }

/**
 * A customer's PostgreSQL 18 where Sallyport makes logins, with its driver. Both end with the suite that calls this. `makes`: the action
 * `make` gives a role with which people make things. `further`: what the server's administrator does besides.
 */
export async function madeLoginsStage({ settings, makes = false, further }: Wanted = {}) {
  const server = await startTargetPostgres(18, settings)
  after(server.stop)
  await setUpByGuide(server)
  await letMakeLogins(server)
  if (makes) await server.asSuperuser(maker)
  if (further !== undefined) await server.asSuperuser(further)
  const roles = makes ? { roles: { read: 'app_readonly', make: 'app_maker' } } : {}
  const config = configOf(server, { makes_logins: true, ...roles })
  const opening = openingOf(config)
  const driver = postgresql.open(opening)
  after(() => driver.close())

  const given = async (action = makes ? 'make' : 'read') => {
    const planned = await driver.plan(noTx, inputOf('ada@example.com', { action }), patient)
    await driver.grant(noTx, planned.target, hours(1), patient)
    const login = planned.recorded_as ?? ''
    await server.asSuperuser(`alter role ${login} password '${password}'`)
    return { planned, login, signIn: (database?: string) => server.signIn(login, password, database) }
  }
  /** Ends the access as the ledger does. Returns what the first step reported. */
  const end = async ({ target }: Pick<Plan, 'target'>): Promise<LeftBehind | undefined> => {
    const progress = await driver.revoke(noTx, target, patient)
    if (progress.done) return undefined
    assert.deepEqual(await driver.poll(noTx, target, progress.reference, patient), { done: true })
    return progress.left_behind
  }
  return { server, config, opening, driver, given, end }
}
