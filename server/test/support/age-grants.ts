type Query = (text: string, values: unknown[]) => Promise<unknown>

/** Moves all moments of a grant, or of the grants of a request, back, as if they had begun so many minutes earlier. */
export async function ageGrants(query: Query, of: 'id' | 'request_id', id: string, minutes: number): Promise<void> {
  await query(
    `with aged as (update access_grant set activated_at = activated_at - m.by, expires_at = expires_at - m.by,
        starts_at = starts_at - m.by, held_since = held_since - m.by, expiring_at = expiring_at - m.by
      from (select make_interval(mins => $2::integer) as by) m where ${of} = $1 returning entitlement_id, m.by)
      update entitlement e set next_look_at = clock_timestamp(), held_since = e.held_since - aged.by
      from aged where e.id = aged.entitlement_id`,
    [id, minutes],
  )
}
