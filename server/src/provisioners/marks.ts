import type { InstallationState, Mark } from '../installation/installation.ts'
import { isSigned, type SignedMark, signMark } from '../installation/mark.ts'
import type { Marks } from './driver.ts'

/** The keys that sign marks: the one in use, and all that verify. */
export type MarkKeys = { inUse(): Buffer; all(): readonly Buffer[] }

export type MarkSource = { installation: InstallationState; keys: MarkKeys }

/** The marks of one provisioner. */
export function marksOf(
  { installation, keys }: MarkSource,
  whose: { tenant_id: string; provisioner_id: string },
): Marks {
  const now = async (): Promise<Mark> => {
    const { id, epoch } = await installation.now()
    return { installation: id, epoch }
  }
  return {
    now,
    sign: async (access) => signMark(keys.inUse(), await now(), { ...whose, ...access }),
    async read(access, mark) {
      const { installation: ours } = await now()
      if (mark.installation !== ours || !isWhole(mark)) return null
      return isSigned(keys.all(), mark, { ...whose, ...access })
        ? { epoch: mark.epoch, grant_id: access.grant_id }
        : null
    },
  }
}

function isWhole(mark: Partial<SignedMark>): mark is SignedMark {
  return typeof mark.signature === 'string' && Number.isSafeInteger(mark.epoch)
}
