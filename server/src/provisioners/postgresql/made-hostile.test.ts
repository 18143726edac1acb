import assert from 'node:assert/strict'
import { after, afterEach, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { hours, madeLoginsStage, patient } from '../../../test/support/made-logins-stage.ts'
import { configOf, inputOf, noTx, openingOf } from '../../../test/support/postgresql-stage.ts'
import { postgresql } from './postgresql.ts'

const password = 'known'

suite('a user who wants to keep what a made login gave, and has a login of their own', async () => {
  const { server, driver, given, end } = await madeLoginsStage({
    settings: { max_prepared_transactions: '5' },
    makes: true,
    further: `create role eve login password '${password}'; grant create on database shop to eve`,
  })
  const stateOf = async (login: string) =>
    (
      await server.asSuperuser(
        `select rolcanlogin as can_login, exists (select from pg_auth_members m where m.member = a.oid) as is_member
          from pg_authid a where rolname = $1`,
        [login],
      )
    )[0]
  /** Triggers on the table of somebody else, each with a function that must not run. */
  const spy = `create function spy() returns trigger language plpgsql as $$begin raise exception 'it ran'; end$$;
    create trigger spying before insert on orders for each row execute function spy()`
  const spyRunsNoMore = async () => {
    await server.asSuperuser('insert into orders values (43)')
    await server.asSuperuser('delete from orders where number = 43')
  }
  afterEach(() =>
    server.asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'eve';
      drop schema if exists hers cascade; drop table if exists busy;
      drop trigger if exists spying on orders; drop function if exists spy(), hold() cascade`),
  )

  test('whose other session locks the row of the login', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query(`create function hold() returns void language plpgsql security definer
      as $$begin execute format('alter role %I password ''mine''', current_user); end$$`)
    const eve = await server.signIn('eve', password)
    await eve.query('begin; select public.hold()')
    await end(planned)
    assert.equal(await stateOf(login), undefined)
  })

  test('who prepared a transaction that locks the row of the login', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query(`begin; alter role ${login} password 'mine'; prepare transaction 'mine'`)
    await end(planned)
    assert.equal(await stateOf(login), undefined)
  })

  test('whose other login prepared a transaction that locks the row', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query(`create function hold() returns void language plpgsql security definer
      as $$begin execute format('alter role %I password ''mine''', current_user); end$$`)
    const eve = await server.signIn('eve', password)
    await eve.query(`begin; select public.hold(); prepare transaction 'hers'`)
    await assert.rejects(end(planned), { kind: 'transient' })
    assert.deepEqual(await stateOf(login), { can_login: true, is_member: false })
    await eve.query(`rollback prepared 'hers'`)
    await end(planned)
    assert.equal(await stateOf(login), undefined)
  })

  test('whose objects cannot be moved', async () => {
    const { planned, login, signIn } = await given()
    const eve = await server.signIn('eve', password)
    await eve.query(`create schema hers; grant create, usage on schema hers to ${login}`)
    await (await signIn()).query(`create function hers.kept() returns int language sql as 'select 1'; ${spy}`)
    await eve.query(`revoke create on schema hers from ${login}`)
    await assert.rejects(end(planned), { kind: 'transient' })
    await spyRunsNoMore()
    await eve.query('drop schema hers cascade')
    await end(planned)
  })

  test('whose trigger function stands where nobody may replace it', async () => {
    const { planned, login, signIn } = await given()
    const eve = await server.signIn('eve', password)
    await eve.query(`create schema hers; grant create, usage on schema hers to ${login}`)
    await (await signIn()).query(`set search_path = hers, public; ${spy}`)
    await eve.query(`revoke create on schema hers from ${login}`)
    await end(planned).catch(() => undefined)
    await spyRunsNoMore()
    await eve.query('drop schema hers cascade')
    await end(planned)
  })

  test('whose trigger functions cannot be replaced', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query(`create function spy() returns trigger language plpgsql window
        as $$begin raise exception 'it ran'; end$$;
      create trigger spying before insert on orders for each row execute function spy()`)
    await end(planned)
    assert.equal(await stateOf(login), undefined)
    await spyRunsNoMore()
  })

  test('whose function looks as if it did nothing', async () => {
    const { planned, signIn } = await given()
    await (await signIn()).query(`create function spy() returns trigger language plpgsql as
        E'begin\\n  -- disabled by Sallyport at the end of the access; it was:'
          '\\r raise exception ''it ran'';\\n  return coalesce(new, old);\\nend';
      create trigger spying before insert on orders for each row execute function spy()`)
    await end(planned)
    await spyRunsNoMore()
    const [kept] = await server.asSuperuser<{ prosrc: string }>(`select prosrc from pg_proc where proname = 'spy'`)
    assert.equal(kept?.prosrc.match(/disabled by Sallyport/g)?.length, 2, 'disarmed once more, and once only')
  })

  test('whose function another session of theirs commits while the rest is moved', async () => {
    const { planned, login, signIn } = await given()
    const client = await signIn()
    await client.query(`create table busy (n int); grant all on busy to eve;
      create function hold() returns void language plpgsql security definer as $$begin
        create function public.spy() returns trigger language plpgsql as 'begin raise exception ''it ran''; end';
        create trigger spying before insert on orders for each row execute function public.spy(); end$$`)
    const eve = await server.signIn('eve', password)
    const progress = await driver.revoke(noTx, planned.target, patient)
    assert.ok(!progress.done)
    await server.asSuperuser(`grant app_maker to ${login}; alter function hold() security definer`)
    const blocker = await server.signIn('eve', password)
    await blocker.query('begin; insert into busy values (1)')
    await eve.query('begin; select public.hold()')
    await server.asSuperuser(`revoke app_maker from ${login}`)
    // It may be refused before the commits below have been answered.
    const refused = assert.rejects(driver.poll(noTx, planned.target, progress.reference, patient), {
      kind: 'transient',
      message: /public\.spy\(\) still runs for others|still owns/,
    })
    const isMoving = `select 1 from pg_locks where relation = 'busy'::regclass and not granted`
    while ((await server.asSuperuser(isMoving)).length === 0) await pause(20)
    await eve.query('commit')
    await blocker.query('rollback')
    await refused
    await end(planned)
    await spyRunsNoMore()
  })

  test('whose routines have names that mean two', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query(`create function two(int) returns int language sql security definer as 'select 1';
      create procedure two(out int) language sql security definer as 'select 1';
      create procedure three(int) language sql security definer as 'select 1';
      create procedure three(out int) language sql security definer as 'select 1'; ${spy}`)
    await end(planned)
    assert.equal(await stateOf(login), undefined)
    await spyRunsNoMore()
  })

  test('whose other session locks a table of the login', async () => {
    const { planned, signIn } = await given()
    await (await signIn()).query(`create table busy (n int); grant all on busy to eve; ${spy};
      create function own() returns trigger language plpgsql as $$begin return new; end$$;
      create trigger own before insert on busy for each row execute function own()`)
    const eve = await server.signIn('eve', password)
    await eve.query('begin; insert into busy values (1)')
    await assert.rejects(end(planned), { kind: 'transient' })
    await spyRunsNoMore()
    await eve.query('rollback')
    await end(planned)
  })

  test('whose function is too long to keep', async () => {
    const { planned, signIn } = await given()
    await (await signIn()).query(`do $do$ begin
      execute format('create function spy() returns trigger language plpgsql as %L',
        repeat(E'\\n', 2000000) || 'begin raise exception ''it ran''; end'); end $do$;
      create trigger spying before insert on orders for each row execute function spy()`)
    await end(planned)
    const [row] = await server.asSuperuser(
      `select length(prosrc) < 1000000 as is_short from pg_proc where proname = 'spy'`,
    )
    assert.deepEqual(row, { is_short: true })
    await spyRunsNoMore()
  })

  test('who sets the default privileges of the access role', async () => {
    const { planned, signIn } = await given('read')
    await (await signIn()).query('alter default privileges for role app_readonly grant select on tables to eve')
    await end(planned)
    const next = await given('read')
    await end(next.planned)
  })

  test('whose action is given by another role since', async () => {
    const input = inputOf('ada@example.com')
    const planned = await driver.plan(noTx, input, patient)
    await driver.grant(noTx, planned.target, hours(1), patient)
    const narrower = postgresql.open(openingOf(configOf(server, { makes_logins: true, roles: { read: 'app_maker' } })))
    after(() => narrower.close())
    const extended = await narrower.plan(noTx, { ...input, grant_id: inputOf('x').grant_id }, patient)
    await narrower.grant(noTx, extended.target, hours(1), patient)
    const rows = await server.asSuperuser(
      `select roleid::regrole::text as role from pg_auth_members where member = $1::regrole`,
      [planned.recorded_as],
    )
    assert.deepEqual(rows, [{ role: 'app_maker' }])
    await end(extended)
  })

  test('who lets what others left be read through a view that they leave', async () => {
    const ada = await given()
    await (await ada.signIn()).query('create table secret as select 7 as n')
    await end(ada.planned)
    const { planned, signIn } = await given()
    await (await signIn()).query(`create view peek as select n from secret; grant select on peek to eve;
      create table bait (n int); create rule bitten as on insert to bait do instead select n from secret;
      grant insert on bait to eve`)
    await end(planned)
    const eve = await server.signIn('eve', password)
    await assert.rejects(eve.query('select n from peek'), { code: '42501' })
    await assert.rejects(eve.query('insert into bait values (1)'), { code: '42501' })
  })

  test('who was granted something by somebody else keeps the name of the login alone', async () => {
    const { planned, login } = await given()
    const eve = await server.signIn('eve', password)
    await eve.query(`create schema hers; create table hers.kept (n int); grant select on hers.kept to ${login}`)
    await assert.rejects(end(planned), { kind: 'transient', message: /rights on table hers\.kept: revoke them/ })
    assert.deepEqual(await stateOf(login), { can_login: false, is_member: false })
    await eve.query(`revoke select on hers.kept from ${login}`)
    await end(planned)
    assert.equal(await stateOf(login), undefined)
  })

  test('who granted a role on', async () => {
    const { planned, login, signIn } = await given()
    await server.asSuperuser(`create role passed_on; grant passed_on to ${login} with admin true`)
    await (await signIn()).query('grant passed_on to eve')
    await end(planned)
    assert.equal(await stateOf(login), undefined)
    assert.deepEqual(await server.asSuperuser(`select 1 from pg_auth_members where member = 'eve'::regrole`), [])
  })

  test('who would open so many connections that Sallyport gets none', async () => {
    const { planned, login, signIn } = await given()
    // One after another: PostgreSQL also counts a connection that it is about to refuse.
    const opened: PromiseSettledResult<unknown>[] = []
    for (let tries = 0; tries < 30; tries += 1) opened.push(...(await Promise.allSettled([signIn()])))
    assert.equal(opened.filter(({ status }) => status === 'fulfilled').length, 20)
    await end(planned)
    assert.equal(await stateOf(login), undefined)
  })
})
