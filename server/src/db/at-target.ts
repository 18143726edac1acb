/**
 * What would stay at a target if a provisioner or a tenant were deleted now: one definition for both. Nobody could take it away later.
 */
import { sql } from './sql.ts'

/**
 * Something of the entitlement `e` is, or may be, at its target, or a check is due. Access that was there before us and is settled, or that was
 * added by hand, does not count.
 */
export const isAtTarget = sql`(e.next_look_at is not null or e.act is not null
  or e.may_land_until > clock_timestamp() or e.observed = 'unknown'
  or (e.observed = 'present' and not e.held_before and e.drift is distinct from 'added')
  or exists (select from orphan o where o.tenant_id = e.tenant_id and o.id = e.id and o.origin = 'ours'))`

/** The provisioner `p` was there before the epoch of the installation `i`. */
export const wasBefore = sql`p.created_at < to_timestamp(i.epoch)`

/**
 * Grants of the provisioner `p` may be lost whose access is at its target: no sweep of this epoch has read all that the target holds. A target that
 * is gone is never read: where its provisioner is disabled, nobody waits for that for more than an hour.
 */
export const mayHoldLost = sql`(p.provisioner_type <> 'sandbox' and exists (select from installation i
  where ${wasBefore} and (p.enabled or to_timestamp(i.epoch) > clock_timestamp() - interval '1 hour')
    and not exists (select from sweep s where s.tenant_id = p.tenant_id and s.provisioner_id = p.id
      and s.listed_epoch = i.epoch)))`
