import pg from 'pg'
import { type Claim, NoPlaceForClaim, type TargetClaims, TargetError } from '../driver.ts'
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

type Claims = Record<string, Claim>

/** Keeps the claim of a provisioner at the role that it signs in as. */
export function roleClaims(access: Pick<SessionAccess, 'connections'>, provisioner_id: string): TargetClaims {
  const use = <Result>(signal: AbortSignal, work: (leased: LeasedConnection) => Promise<Result>) =>
    access.connections.use({ signal, ahead: true }, work)
  return {
    read: (_tx, signal) => use(signal, async (leased) => (await readClaims(leased))[provisioner_id]),
    write: (_tx, claim, signal) =>
      use(signal, async (leased) => {
        const { query } = leased
        await query(begin)
        // Of two provisioners of this role in one database, none writes over the claim of the other.
        await query(`select pg_advisory_xact_lock(hashtext('${prefix}'))`)
        const claims = { ...without(await readClaims(leased), Date.parse(claim.at)), [provisioner_id]: claim }
        await writeClaims(leased, claims)
        await query('commit')
      }),
  }
}

/** All claims at the role. @throws NoPlaceForClaim when the place is taken by a setting of an administrator */
export async function readClaims({ query, facts }: LeasedConnection): Promise<Claims> {
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

async function writeClaims({ query, facts }: LeasedConnection, claims: Claims): Promise<void> {
  const text = pg.escapeLiteral(`${prefix}${JSON.stringify(claims)}`)
  try {
    await query(`alter role ${pg.escapeIdentifier(facts.me)} set application_name = ${text}`)
  } catch (error) {
    if (!(error instanceof TargetError) || error.kind === 'transient') throw error
    throw new NoPlaceForClaim(error.message)
  }
}

/** Only what has the form of a claim: an administrator may have edited it. */
function claimsIn(text: string): Claims {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return {}
  }
  if (typeof read !== 'object' || read === null) return {}
  return Object.fromEntries(Object.entries(read).filter((entry): entry is [string, Claim] => isClaim(entry[1])))
}

function isClaim(value: unknown): value is Claim {
  if (typeof value !== 'object' || value === null) return false
  const { installation, epoch, token, at } = value as Partial<Record<keyof Claim, unknown>>
  const texts = [installation, token, at].every((text) => typeof text === 'string')
  return texts && typeof epoch === 'number' && !Number.isNaN(Date.parse(String(at)))
}

function without(claims: Claims, now: number): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([, { at }]) => now - Date.parse(at) < forgottenAfterMs))
}
