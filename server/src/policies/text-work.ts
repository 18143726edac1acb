import { beside, type Work } from '../kernel/beside.ts'

/** Reading so many characters takes some 10 ms at most. A thread for them would cost every small installation 40 MB. */
const shortText = 1_000

/**
 * Calls a function on the text of one rule: at once where the text is short, otherwise as `beside.run`.
 * @param text what the function reads, in any shape; its length as JSON counts
 */
export async function workOnText<Args extends unknown[], Result>(
  tenant_id: string,
  text: unknown,
  url: string,
  work: Work<Args, Result>,
  args: Args,
): Promise<Result> {
  return JSON.stringify(text).length <= shortText ? work(...args) : beside.run(tenant_id, url, work, args)
}
