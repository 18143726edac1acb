import pg from 'pg'
import { isObject } from '../../kernel/is-object.ts'
import { parsedJson } from '../../kernel/parsed-json.ts'
import { NoPlaceForClaim, TargetError } from '../driver.ts'
import { type Claim, readClaim, type TargetClaims } from '../target-claims.ts'
import type { LeasedConnection } from './connections.ts'
import { begin } from './held-role.ts'
import type { SessionAccess } from './sessions.ts'

/**
 * Claims are kept in the setting `application_name` of the role that Sallyport signs in as. A role may set it for itself, all databases of the
 * server show it, and Sallyport's connections name themselves, so it has no effect.
 */
const prefix = 'sallyport claims '

/** A provisioner that was not heard of for so long acts no more. */
const forgottenAfterMs = 30 * 86_400_000

/**
 * `since`: the transaction of the server in which this installation claimed the role first, and `from`: in its epoch. What the role granted in
 * between, and the ledger does not know, was granted in an earlier epoch of the installation. `system`: the server that counted them; an upgrade
 * or a restore of it writes all memberships again.
 */
type RoleClaim = Claim & { since: string; from: string; system: string }
export type RoleClaims = Readonly<Record<string, RoleClaim>>

/** Keeps the claim of a provisioner at the role that it signs in as. */
export function roleClaims(access: Pick<SessionAccess, 'connections'>, provisioner_id: string): TargetClaims {
  const use = <Result>(signal: AbortSignal, work: (leased: LeasedConnection) => Promise<Result>) =>
    access.connections.use({ signal, ahead: true }, work)
  return {
    read: (_tx, signal) =>
      use(signal, async (leased) => {
        const {
          since: _since,
          from: _from,
          system: _system,
          ...claim
        } = (await readClaims(leased))[provisioner_id] ?? {}
        return readClaim(claim)
      }),
    write: (_tx, claim, signal) =>
      use(signal, async (leased) => {
        const { query } = leased
        await query(begin)
        // Without a lock: two provisioners of this role seldom write at once, a claim that is lost is written again, and any login of the server
        // could hold the lock.
        const before = withoutForgotten(await readClaims(leased), Date.parse(claim.at))
        const [row] = await query(`select pg_current_xact_id()::text as now,
          has_function_privilege('pg_control_system()', 'execute') as tells`)
        // A server that does not say which one it is counts as the same.
        const [said] =
          row?.tells === 't' ? await query('select system_identifier::text as system from pg_control_system()') : []
        const kept = begunWith(before[provisioner_id], claim, { now: row?.now ?? '', system: said?.system ?? '' })
        await writeClaims(leased, { ...before, [provisioner_id]: kept })
        await query('commit')
      }),
  }
}

/** All claims at the role. @throws NoPlaceForClaim when the place is taken by a setting of an administrator */
export async function readClaims({ query, facts }: LeasedConnection): Promise<RoleClaims> {
  const [row] = await query(
    `select substr(setting, strpos(setting, '=') + 1) as text
      from pg_db_role_setting s, unnest(s.setconfig) as setting
      where s.setrole = $1::oid and s.setdatabase = 0 and starts_with(setting, 'application_name=')`,
    [facts.me_oid],
  )
  if (row?.text == null) return {}
  if (!row.text.startsWith(prefix)) {
    throw new NoPlaceForClaim(
      '`application_name` of its role is set to something else, so that it has no place for a claim',
    )
  }
  return claimsIn(row.text.slice(prefix.length))
}

async function writeClaims({ query, facts }: LeasedConnection, claims: RoleClaims): Promise<void> {
  const text = pg.escapeLiteral(`${prefix}${JSON.stringify(claims)}`)
  try {
    await query(`alter role ${pg.escapeIdentifier(facts.me)} set application_name = ${text}`)
  } catch (error) {
    if (!(error instanceof TargetError) || error.kind === 'transient') throw error
    throw new NoPlaceForClaim(error.message)
  }
}

/** Another installation that claimed the role before may have granted what is there. */
function begunWith(
  before: RoleClaim | undefined,
  claim: Claim,
  { now, system }: { now: string; system: string },
): RoleClaim {
  const isSame = before?.installation === claim.installation && before.system === system
  const since = isSame ? before.since : now
  return { ...claim, system, since, from: isSame && before.epoch === claim.epoch ? before.from : now }
}

/** Only what has the form of a claim: an administrator may have edited it. */
function claimsIn(text: string): RoleClaims {
  const read = parsedJson(text)
  if (!isObject(read)) return {}
  return Object.fromEntries(Object.entries(read).filter((entry): entry is [string, RoleClaim] => isClaim(entry[1])))
}

function isClaim(value: unknown): value is RoleClaim {
  if (!isObject(value) || readClaim(value) === undefined) return false
  return [value.since, value.from].every((text) => typeof text === 'string' && /^\d+$/.test(text))
}

function withoutForgotten(claims: RoleClaims, now: number): RoleClaims {
  return Object.fromEntries(Object.entries(claims).filter(([, { at }]) => now - Date.parse(at) < forgottenAfterMs))
}
