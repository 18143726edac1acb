import type { Ctx } from '../kernel/context.ts'
import { refusesRights } from '../kernel/errors.ts'
import { type NewEvent, refuse } from './emit.ts'

/**
 * Does the work. If it is forbidden, the attempt is recorded in the audit log, although everything else is rolled back: an
 * attempt to give more rights than one has is worth knowing.
 */
export async function keepRefusal<Result>(
  ctx: Ctx,
  subject: Pick<NewEvent, 'subject_type' | 'subject_id'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (!refusesRights(thrown)) throw thrown
    const data = { code: thrown.code, source_ip: ctx.source_ip, ...thrown.details }
    return refuse(ctx, thrown, { type: 'access.refused', ...subject, data })
  }
}
