import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import pg from 'pg'
import { hours, madeLoginsStage, patient } from '../../../test/support/made-logins-stage.ts'
import { noTx } from '../../../test/support/postgresql-stage.ts'

const quoted = pg.escapeIdentifier

/** A name that breaks out of any statement that does not quote it. */
const hostile = `a"; drop table orders; --\n'x`

suite('what a made login leaves behind', async () => {
  const { server, driver, given, end } = await madeLoginsStage({
    settings: { max_prepared_transactions: '5', max_locks_per_transaction: '20' },
    makes: true,
    further: `create role eve login password 'eve'`,
  })
  before(async () => {
    // A second database, where people make things too.
    await server.asSuperuser('create database other')
    const other = await server.signIn('postgres', server.password, 'other')
    await other.query(
      'grant create on schema public to app_maker; create table shared (n int); grant trigger on shared to app_maker',
    )
    await other.end()
  })
  const one = async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
    (await server.asSuperuser<Row>(text, values))[0]
  const isGone = async (login: string) =>
    assert.deepEqual(await server.asSuperuser('select 1 from pg_roles where rolname = $1', [login]), [])
  /** No role can act as the one that owns what is left, or has what was lent for a moment. */
  const nothingIsLent = async () => {
    const rows = await server.asSuperuser(`select 1 from pg_auth_members where inherit_option and (
        member = 'sallyport'::regrole and roleid <> 'pg_signal_backend'::regrole)
      or (set_option or inherit_option)
        and (member::regrole::text like 'left_by_%' or roleid::regrole::text like 'left_by_%')`)
    assert.deepEqual(rows, [])
  }

  test('functions lose `security definer`, and everything stays under a role without rights', async () => {
    const { planned, login, signIn } = await given()
    const client = await signIn()
    await client.query(`create function evil() returns int language sql security definer as 'select 1';
      create procedure ${quoted(hostile)}(text) language sql security definer as 'select 1';
      create schema ${quoted(hostile)}; create table ${quoted(hostile)}.kept as select 7 as n;
      create type mood as enum ('good'); create sequence counted; create view seen as select 1 as n;
      create table owned_seq (id int generated always as identity); create type pair as (a int, b int);
      alter default privileges grant all on tables to public;
      alter default privileges in schema public grant all on functions to eve;
      grant select on ${quoted(hostile)}.kept to eve; select lo_create(4711)`)
    const left = await end(planned)
    assert.ok(left !== undefined && left.total >= 8, JSON.stringify(left))
    assert.ok(left.objects.some(({ kind, name }) => kind === 'function' && name === 'public.evil()'))
    for (const { name } of left.objects) assert.doesNotMatch(name, /[\n\r]/)
    await isGone(login)
    assert.deepEqual(
      await one(`select count(*)::int as n from pg_proc where prosecdef and proowner = 'left_by_${login}'::regrole`),
      { n: 0 },
    )
    assert.deepEqual(await one(`select n from ${quoted(hostile)}.kept`), { n: 7 })
    assert.deepEqual(await one(`select lomowner::regrole::text as who from pg_largeobject_metadata where oid = 4711`), {
      who: `left_by_${login}`,
    })
    assert.deepEqual(await one('select count(*)::int as n from pg_default_acl'), { n: 1 }, 'only that of the guide')
    const leftovers = await one(`select rolcanlogin or rolsuper or rolcreaterole or rolinherit is null as any
      from pg_roles where rolname = 'left_by_${login}'`)
    assert.deepEqual(leftovers, { any: false })
    assert.deepEqual(await one('select number from orders'), { number: 42 })
    await nothingIsLent()
  })

  test('triggers run no more: on own tables, and on those of others', async () => {
    const { planned, signIn } = await given()
    const client = await signIn()
    await client.query(`create table log (who text);
      create function spy() returns trigger language plpgsql security definer
        as $$begin insert into log values (current_user); return new; end -- "quoted" ' text$$;
      create function spy_invoker() returns trigger language plpgsql as $$begin raise exception 'it ran'; end$$;
      create trigger spying before insert on orders for each row execute function spy();
      create trigger spying_too after insert on orders for each statement execute function spy_invoker();
      create trigger on_log before insert on log for each row execute function spy_invoker();
      create function spy_own() returns trigger language plpgsql as $$begin raise exception 'it ran'; end$$;
      create trigger on_log_alone before insert on log for each row execute function spy_own()`)
    const left = await end(planned)
    assert.ok(left?.objects.some(({ kind, name }) => kind === 'trigger' && name === 'spying on public.orders'))
    await server.asSuperuser('insert into orders values (43)')
    await server.asSuperuser(`insert into log values ('me')`)
    assert.deepEqual(await server.asSuperuser('select who from log'), [{ who: 'me' }])
    const source = await one<{ prosrc: string }>(`select prosrc from pg_proc where proname = 'spy'`)
    assert.match(
      source?.prosrc ?? '',
      /-- begin insert into log values \(current_user\); return new; end -- "quoted" ' text/,
    )
    await server.asSuperuser('update orders set number = 44 where number = 43; delete from orders where number = 44')
    await nothingIsLent()
  })

  test('objects in another database are disarmed and moved too, and named with it', async () => {
    const { planned, login, signIn } = await given()
    const client = await signIn('other')
    await client.query(`create function there() returns trigger language plpgsql security definer as
        $$begin raise exception 'it ran'; end$$;
      create trigger there before insert on shared for each row execute function there(); create table mine (n int)`)
    const left = await end(planned)
    assert.ok(
      left?.objects.some(({ name }) => name === 'other: public.mine'),
      JSON.stringify(left),
    )
    await isGone(login)
    const other = await server.signIn('postgres', server.password, 'other')
    await other.query('insert into shared values (1)')
    const { rows } = await other.query(
      `select prosecdef, proowner::regrole::text as who from pg_proc where proname = 'there'`,
    )
    assert.deepEqual(rows, [{ prosecdef: false, who: `left_by_${login}` }])
    await other.end()
  })

  test('a database that accepts no connections keeps the login from being dropped, and it can do nothing', async () => {
    const { planned, login, signIn } = await given()
    const client = await signIn('other')
    await client.query('create table kept_here (n int)')
    await server.asSuperuser('alter database other allow_connections false')
    const refused = {
      kind: 'transient',
      message: /cannot sign in any more, but cannot be dropped: in the database `other`/,
    }
    await assert.rejects(driver.revoke(noTx, planned.target, patient), refused)
    const state = await one(
      `select rolcanlogin as can_login, rolpassword is null as no_password,
        exists (select from pg_auth_members m where m.member = a.oid) as is_member,
        exists (select from pg_stat_activity s where s.usesysid = a.oid) as is_connected
        from pg_authid a where rolname = $1`,
      [login],
    )
    assert.deepEqual(state, { can_login: false, no_password: true, is_member: false, is_connected: false })
    assert.equal(await driver.verify(noTx, planned.target, null, patient), 'held')
    await assert.rejects(async () => driver.setPassword?.(planned.target, patient), { kind: 'permanent' })
    await server.asSuperuser('alter database other allow_connections true')
    await end(planned)
    await isGone(login)
  })

  test('10,000 objects are moved, some hundreds of tables at a time', async () => {
    const { planned, login, signIn } = await given()
    const client = await signIn()
    // Each table has four locks: more than the server has room for in one transaction.
    for (let batch = 0; batch < 5; batch += 1) {
      await client.query(`do $$ begin for i in 1..500 loop
        execute format('create table many_%s_%s (n int primary key, t text)', ${batch}, i); end loop; end $$`)
    }
    await client.query(`do $$ begin
      for i in 1..4500 loop execute format('create function many_%s() returns int language sql security definer as ''select 1''', i);
      end loop; perform lo_create(i) from generate_series(100001, 103000) i; end $$`)
    const left = await end(planned)
    assert.deepEqual([left?.total, left?.objects.length], [10_000, 50])
    assert.equal(left?.objects[0]?.kind, 'function')
    await isGone(login)
    const functions = `select count(*)::int as n from pg_proc where proname like 'many_%' and not prosecdef`
    assert.deepEqual(await one(functions), { n: 4_500 })
  })

  test('a prepared transaction is rolled back', async () => {
    const { planned, login, signIn } = await given()
    const client = await signIn()
    await client.query(`create table held_open (n int); begin; lock table held_open; insert into held_open values (1)`)
    await client.query(`prepare transaction 'it''s mine'`)
    await end(planned)
    await isGone(login)
    assert.deepEqual(await server.asSuperuser('select gid from pg_prepared_xacts'), [])
    await nothingIsLent()
  })

  test('two ends at once do not hinder each other', async () => {
    const both = [await given(), await given()]
    for (const [index, { signIn }] of both.entries()) {
      await (
        await signIn()
      ).query(`create table at_once_${index} (n int); create function at_once_${index}() returns int
        language sql security definer as 'select 1'`)
    }
    await Promise.all(both.map(({ planned }) => end(planned)))
    for (const { login } of both) await isGone(login)
    await nothingIsLent()
  })

  test('a late poll of an earlier end leaves a login that was made again', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query('create table again (n int)')
    const progress = await driver.revoke(noTx, planned.target, patient)
    assert.ok(!progress.done)
    await driver.grant(noTx, planned.target, hours(1), patient)
    assert.deepEqual(await driver.poll(noTx, planned.target, progress.reference, patient), { done: true })
    assert.equal(await driver.verify(noTx, planned.target, new Date(), patient), 'held')
    await end(planned)
    await isGone(login)
    await driver.grant(noTx, planned.target, hours(1), patient)
    assert.deepEqual(await driver.poll(noTx, planned.target, progress.reference, patient), { done: true })
    assert.equal(await driver.verify(noTx, planned.target, new Date(), patient), 'held')
    await end(planned)
  })

  test('a role that took the name of the one for what is left keeps the login from being dropped', async () => {
    const { planned, login, signIn } = await given()
    await (await signIn()).query('create table stuck (n int)')
    await server.asSuperuser(`create role left_by_${login}`)
    await assert.rejects(end(planned), /Sallyport did not make `left_by_/)
    await server.asSuperuser(`drop role left_by_${login}; set role sallyport; create role left_by_${login} login;
      comment on role left_by_${login} is 'made by Sallyport to own what a login that it made has left'; reset role`)
    await assert.rejects(end(planned), /must be able to do nothing/)
    await server.asSuperuser(`alter role left_by_${login} nologin`)
    await end(planned)
    await isGone(login)
  })
})
