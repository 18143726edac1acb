import type { SignedMark } from '../../installation/mark.ts'
import type { Marks, Origin } from '../driver.ts'
import { type HeldRole, keyOf } from './held-role.ts'

/**
 * The mark of a login that Sallyport made: its comment. Only who may alter a role may comment on it, so neither its user nor another tenant’s
 * Sallyport can set it. It contains the first name, by which a login that is renamed is found, and says who made it.
 */
const mark = 'made by Sallyport for a grant: '

/** What the comment on the login begins with. What follows a `;` says in which installation and epoch it was made. */
export function markOf(login: string): string {
  return `${mark}${login}`
}

/** The whole comment. */
export function commentOf(login: string, signed: SignedMark | undefined): string {
  if (signed === undefined) return markOf(login)
  const { installation, epoch, signature } = signed
  return `${markOf(login)}; installation ${installation}, epoch ${epoch}, signature ${signature}`
}

/**
 * Whether this Sallyport made the login `l`: it has the mark, and only the role that made it may alter it. `$1`: the oid of the role that
 * Sallyport signs in as.
 */
export const isMade = `starts_with(shobj_description(l.oid, 'pg_authid'), '${mark}') and exists (
  select from pg_auth_members a where a.roleid = l.oid and a.member = $1::oid and a.admin_option)`

/** What the comment on the login `l` begins with. */
export const beginOfComment = `split_part(shobj_description(l.oid, 'pg_authid'), ';', 1)`

/** The first name of the login `l`, from its mark. */
export const firstName = `substr(${beginOfComment}, ${mark.length + 1})`

/** The mark of a new login. */
export function signMade(marks: Marks | undefined, held: HeldRole): Promise<SignedMark | undefined> {
  return marks?.sign({ grant_id: grantOf(held.login), key: keyOf(held) }) ?? Promise.resolve(undefined)
}

/** What the comment of a login proves. */
export async function readMade(
  marks: Marks | undefined,
  held: HeldRole,
  comment: string | null | undefined,
): Promise<Origin | null> {
  const [, installation, epoch, signature] =
    /; installation (\S+), epoch (\d+), signature (\S+)$/.exec(comment ?? '') ?? []
  if (marks === undefined || installation === undefined || signature === undefined) return null
  const access = { grant_id: grantOf(held.login), key: keyOf(held) }
  return marks.read(access, { installation, epoch: Number(epoch), signature })
}

/** The grant for which a login was made is in its name. */
function grantOf(login: string): string {
  const [, one, two, three, four, five] =
    /_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(login) ?? []
  return [one, two, three, four, five].join('-')
}
