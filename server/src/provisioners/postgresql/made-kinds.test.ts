import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { madeLoginsStage, patient } from '../../../test/support/made-logins-stage.ts'
import { noTx } from '../../../test/support/postgresql-stage.ts'

/** Everything that somebody with `create` in a schema and in the database can make, beside what other tests make. */
const made = [
  `create table refers (n int references peers on delete cascade)`,
  `create domain positive as int check (value > 0); create type span as range (subtype = int)`,
  `create table parts (n int, t text) partition by range (n);
   create table part_one partition of parts for values from (0) to (10); create index on parts (n)`,
  `create table numbered (id int generated always as identity primary key, s serial, t text);
   create materialized view counted as select * from numbered; create statistics told on id, s from numbered`,
  `create function same(int, text) returns bool language sql as 'select true';
   create operator === (leftarg = int, rightarg = text, function = same);
   create aggregate summed (int) (sfunc = int4pl, stype = int)`,
  `create type shoe as (size int); create function to_shoe(int) returns shoe language sql as 'select row($1)::shoe';
   create cast (int as shoe) with function to_shoe(int) as assignment`,
  `create text search configuration found (copy = simple); create text search dictionary words (template = simple);
   create collation plain (locale = 'C'); create default conversion latin for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8`,
  `create table told_of (n int); create publication news for table told_of`,
  `create table guarded (n int); alter table guarded enable row level security;
   alter table guarded force row level security; create policy positive on guarded using (n > 0);
   create rule heard as on insert to guarded do also notify heard`,
  `create table parent (n int); create table child (m int) inherits (parent)`,
  `create schema "we ird""s"; create procedure "we ird""s".p(inout a int, out b text)
     language plpgsql security definer as 'begin end';
   create function "we ird""s"."f'"(a "char", "in" int, variadic "double" int[]) returns table (x int)
     language sql security definer as 'select 1'`,
  `create view seen as select 1 as n; create function nothing() returns trigger language plpgsql as 'begin return new; end';
   create trigger in_place instead of insert on seen for each row execute function nothing();
   create trigger of_peers after insert on peers for each row execute function nothing()`,
  `create function fixed(int) returns int immutable language sql security definer as 'select 1';
   create table computed (n int, m int generated always as (fixed(n)) stored, check (fixed(n) = 1));
   create index on computed (fixed(n))`,
  `create table body (n int); create function body_of() returns int language sql security definer
     begin atomic select n from body; end; create view body_seen as select body_of()`,
  `create extension if not exists citext`,
  `create temp table gone (n int); declare kept cursor with hold for select * from gone; listen heard;
   create function pg_temp.gone() returns int language sql security definer as 'select 1'`,
]

suite('the end of a made login', async () => {
  const { server, driver, given } = await madeLoginsStage({
    further: `grant create on schema public to app_readonly; create table peers (n int primary key);
      grant create on database shop to app_readonly; grant references, trigger on peers to app_readonly`,
  })

  test('moves objects of every kind', async () => {
    const {
      planned: { target },
      login,
      signIn,
    } = await given()
    const client = await signIn()
    for (const text of made) await client.query(text)
    const progress = await driver.revoke(noTx, target, patient)
    assert.ok(!progress.done)
    assert.ok((progress.left_behind?.total ?? 0) > 30, JSON.stringify(progress.left_behind))
    assert.deepEqual(await driver.poll(noTx, target, progress.reference, patient), { done: true })
    assert.deepEqual(await server.asSuperuser('select 1 from pg_roles where rolname = $1', [login]), [])
    assert.deepEqual(await server.asSuperuser('select proname from pg_proc where prosecdef'), [])
  })
})
