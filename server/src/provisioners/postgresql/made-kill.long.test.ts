import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hours, madeLoginsStage, patient } from '../../../test/support/made-logins-stage.ts'
import { inputOf, noTx } from '../../../test/support/postgresql-stage.ts'
import { clearDatabase } from './clear-left.ts'
import type { LeasedConnection } from './connections.ts'
import { readHeldRole } from './held-role.ts'
import { ensureLeftovers } from './left-behind.ts'
import { disableMade, findMade, giveMade, revokeMade } from './made-login.ts'
import { readSettings } from './postgresql-config.ts'
import { openServerConnection } from './server-connection.ts'

suite('a kill between any two statements', async () => {
  const { server, config, opening, driver } = await madeLoginsStage({
    further: 'grant create on schema public to app_readonly; grant trigger on orders to app_readonly',
  })
  const settings = readSettings(config)

  /** Works with a connection that is lost before its statement number `at`. Returns whether the work came to its end before. */
  async function killedAt(at: number, work: (leased: LeasedConnection) => Promise<unknown>): Promise<boolean> {
    const connection = await openServerConnection(settings, opening.egress, patient)
    const query = connection.queryWith(patient)
    let statements = 0
    const counted: LeasedConnection['query'] = (text, values) => {
      if (statements === at) throw new Error('killed')
      statements += 1
      return query(text, values)
    }
    try {
      await work({ query: counted, facts: connection.facts })
      return true
    } catch (error) {
      assert.equal((error as Error).message, 'killed')
      return false
    } finally {
      connection.destroy()
    }
  }
  const planned = async () => {
    const { target, recorded_as } = await driver.plan(noTx, inputOf('ada@example.com'), patient)
    return { target, held: readHeldRole(target), login: recorded_as ?? '' }
  }
  const states = (login: string) =>
    server.asSuperuser(
      `select shobj_description(l.oid, 'pg_authid') is not null as is_marked,
          exists (select from pg_auth_members m where m.member = l.oid) as has_role from pg_roles l where rolname = $1`,
      [login],
    )
  /** Ends the access as the ledger does. */
  async function end(target: Record<string, unknown>, login: string): Promise<void> {
    const progress = await driver.revoke(noTx, target, patient)
    if (!progress.done) await driver.poll(noTx, target, progress.reference, patient)
    assert.deepEqual(await states(login), [])
  }

  test('of giving leaves no login that is not ours, and giving goes on', async () => {
    let isOver = false
    for (let at = 0; !isOver; at += 1) {
      const { target, held, login } = await planned()
      isOver = await killedAt(at, (leased) => giveMade(leased, settings, { held, until: hours(1), mark: undefined }))
      const left = await states(login)
      for (const one of left) assert.deepEqual(one, { is_marked: true, has_role: true })
      // It has committed before its last statements.
      if (isOver || at === 0) assert.equal(left.length, isOver ? 1 : 0)
      await driver.grant(noTx, target, hours(1), patient)
      assert.equal(await driver.verify(noTx, target, new Date(), patient), 'held')
      await end(target, login)
    }
  })

  test('of clearing lends nothing to anybody, and clearing goes on', async () => {
    let isOver = false
    for (let at = 0; !isOver; at += 1) {
      const { target, held, login } = await planned()
      await driver.grant(noTx, target, hours(1), patient)
      await server.asSuperuser(`set session authorization ${login};
        create function left_${at}() returns trigger language plpgsql security definer as $$begin return null; end$$;
        create trigger left_${at} after insert on orders execute function left_${at}(); create table left_${at} as select 7 as n;
        reset session authorization`)
      isOver = await killedAt(at, async (leased) => {
        const [made] = await findMade(leased, held.login)
        assert.ok(made !== undefined)
        await revokeMade(leased, made)
        await disableMade(leased, made)
        const leftovers = await ensureLeftovers(leased, held.login)
        await clearDatabase(leased, { me: 'sallyport', login: made, leftovers, access: 'app_readonly' })
      })
      const lent = await server.asSuperuser(`select 1 from pg_auth_members where (inherit_option or set_option)
        and (member = 'sallyport'::regrole and roleid <> 'pg_signal_backend'::regrole
          or roleid::regrole::text like 'left_by_%')`)
      assert.deepEqual(lent, [])
      await end(target, login)
      const left = `select n, tableowner from left_${at}, pg_tables where tablename = 'left_${at}'`
      assert.deepEqual(await server.asSuperuser(left), [{ n: 7, tableowner: `left_by_${login}` }])
    }
  })
})
