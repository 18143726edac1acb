import type { House } from './house.ts'

/** Marks a suspended tenant as one whose rows go, or takes that back, which the operator cannot. Until its rows are gone, they are there. */
export async function beDeleted(
  { asSuperuser }: Pick<House, 'asSuperuser'>,
  tenant_id: string,
  going: boolean,
): Promise<void> {
  await asSuperuser('update tenant set deleting_since = case when $2 then now() end where id = $1', [tenant_id, going])
}
