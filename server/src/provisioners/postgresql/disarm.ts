import { TargetError } from '../driver.ts'
import type { Query } from './server-connection.ts'

/** Characters of a function's text that are kept when it is disarmed: a user can make one that no statement has room for. */
const maxKeptText = 100_000
/** A disarmed function is never longer, in bytes. */
const maxIdleBytes = 4 * 7 * maxKeptText

/** The function `p` does nothing, beside comments of a line each: as `replaceForeign` leaves it, whether that wrote it or not. */
const isIdle = `case when octet_length(p.prosrc) > ${maxIdleBytes} then false
  else p.prolang = (select l.oid from pg_language l where l.lanname = 'plpgsql')
    and regexp_replace(p.prosrc, E'\\n  --[^\\r\\n]*', '', 'g')
      in (E'begin\\n  return coalesce(new, old);\\nend', E'begin\\n  return;\\nend') end`

/** The functions of a role that triggers on tables of others call, or event triggers of others, and that do something. */
const foreign = (oid: string) => `pg_proc p where p.proowner = ${oid} and (exists (
    select from pg_trigger g join pg_class c on c.oid = g.tgrelid where g.tgfoid = p.oid
      and not (c.relowner = ${oid} and c.relkind in ('r', 'p', 'f')))
  or exists (select from pg_event_trigger e where e.evtfoid = p.oid and e.evtowner <> ${oid})) and not ${isIdle}`

/**
 * Triggers on tables of others can be disabled only by the owner of the table, so the function that they call is made to do nothing, and
 * keeps its text as a comment: it would run with the rights of the one who changes the table. One statement for all, since each round trip
 * counts with thousands of them; what fails is left out, so that it keeps no other one armed.
 */
export function replaceForeign(oid: string): string {
  return `do $disarm$
    declare
      one record;
      lines text;
    begin
      for one in select p.oid::regprocedure as name, p.prorettype::regtype as returns,
          left(p.prosrc, ${maxKeptText}) as source from ${foreign(oid)} loop
        lines := '  -- ' || regexp_replace(one.source, E'\\r\\n|\\r|\\n', E'\\n  -- ', 'g');
        begin
          execute format('create or replace function %s returns %s language plpgsql as %L', one.name, one.returns,
            E'begin\\n  -- disabled by Sallyport at the end of the access; it was:\\n' || lines || E'\\n  '
              || case when one.returns = 'trigger'::regtype then 'return coalesce(new, old);' else 'return;' end || E'\\nend');
        exception when others then null;
        end;
      end loop;
    end
  $disarm$`
}

/**
 * A function of a kind that cannot be replaced by one that does nothing, or in a schema where its owner may create nothing any more, is
 * dropped with the triggers that call it: nothing else can.
 */
export function dropForeign(oid: string): string {
  return `do $disarm$
    declare
      one record;
    begin
      for one in select p.oid::regprocedure as name from ${foreign(oid)} loop
        begin
          execute format('drop function %s cascade', one.name);
        exception when others then null;
        end;
      end loop;
    end
  $disarm$`
}

/** Functions lose `security definer`. The modes of arguments tell a procedure from another of the same name. */
export function disarmDefiners(oid: string): string {
  return `do $disarm$
    declare
      one record;
    begin
      for one in select case p.prokind when 'p' then 'procedure' else 'function' end as kind, n.nspname, p.proname,
          pg_get_function_identity_arguments(p.oid) as arguments
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.proowner = ${oid} and p.prosecdef loop
        begin
          execute format('alter %s %I.%I(%s) security invoker', one.kind, one.nspname, one.proname, one.arguments);
        exception when others then null;
        end;
      end loop;
    end
  $disarm$`
}

/** Triggers on the login's own tables, which nobody else can disable, and its event triggers. */
export function disarmOwn(oid: string): string {
  return `do $disarm$
    declare
      one record;
    begin
      for one in select c.oid::regclass as name, g.tgname from pg_trigger g join pg_class c on c.oid = g.tgrelid
        where not g.tgisinternal and g.tgenabled <> 'D' and c.relowner = ${oid} and c.relkind in ('r', 'p', 'f') loop
        execute format('alter table %s disable trigger %I', one.name, one.tgname);
      end loop;
      for one in select e.evtname from pg_event_trigger e where e.evtowner = ${oid} and e.evtenabled <> 'D' loop
        execute format('alter event trigger %I disable', one.evtname);
      end loop;
    end
  $disarm$`
}

/**
 * `oid`: of the role that owns the functions, also when they have just been moved to it: another session may have committed one meanwhile.
 * @throws TargetError that names a function which still runs for others
 */
export async function requireDisarmed(query: Query, oid: string): Promise<void> {
  const [armed] = await query(
    `select o.identity as name from (select p.oid from ${foreign(oid)}
        union all select p.oid from pg_proc p where p.proowner = ${oid} and p.prosecdef limit 1) one,
      pg_identify_object('pg_proc'::regclass, one.oid, 0) o`,
  )
  if (armed === undefined) return
  const why = `the function ${armed.name ?? ''} still runs for others, by a trigger or as \`security definer\`: drop it`
  throw new TargetError('transient', why)
}
