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
export function commentOf(login: string, signed: MadeMark | undefined): string {
  if (signed === undefined) return markOf(login)
  const { installation, epoch, provisioner_id, signature } = signed
  return `${markOf(login)}; installation ${installation}, epoch ${epoch}, provisioner ${provisioner_id}, signature ${signature}`
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

/** Says besides which provisioner made the login. */
export type MadeMark = SignedMark & { provisioner_id: string }

/** The mark of a new login. */
export async function signMade(
  { marks, provisioner_id }: { marks: Marks | undefined; provisioner_id: string },
  held: HeldRole,
): Promise<MadeMark | undefined> {
  const signed = await marks?.sign({ grant_id: grantOf(held.login), key: keyOf(held) })
  return signed && { ...signed, provisioner_id }
}

/** What the comment of a login proves, and which provisioner it names. */
export async function readMade(
  marks: Marks | undefined,
  held: HeldRole,
  comment: string | null | undefined,
): Promise<{ origin: Origin | null; provisioner_id?: string }> {
  const [, installation, epoch, provisioner_id, signature] =
    /; installation (\S+), epoch (\d+), provisioner (\S+), signature (\S+)$/.exec(comment ?? '') ?? []
  if (installation === undefined || provisioner_id === undefined || signature === undefined) return { origin: null }
  const access = { grant_id: grantOf(held.login), key: keyOf(held) }
  const origin = await marks?.read(access, { installation, epoch: Number(epoch), signature })
  return { origin: origin ?? null, provisioner_id }
}

/** The grant for which a login was made is in its name. */
function grantOf(login: string): string {
  const [, one, two, three, four, five] =
    /_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(login) ?? []
  return [one, two, three, four, five].join('-')
}
