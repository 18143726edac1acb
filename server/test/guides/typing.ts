import { checkOutcome, checkShown } from './answers.ts'
import { type Block, blocksOf } from './blocks.ts'
import { endless, notTyped, type Substitutions } from './marks.ts'
import type { openShell, Typed } from './shell.ts'

type Shell = Awaited<ReturnType<typeof openShell>>

const isTyped = ({ language, words }: Block) =>
  language === 'sh' && !words.some((word) => Object.hasOwn(notTyped, word))

/** Whether there is anything to type in a page. */
export const hasTyped = (page: string) => blocksOf(page).some(isTyped)

/**
 * Types these blocks of a page, or all, and checks that each does what the page says. Returns what is wrong: one fault is no reason not
 * to see the others.
 */
export async function typePage(
  shell: Shell,
  page: string,
  replaced: Substitutions,
  isWanted: (block: Block) => boolean = () => true,
): Promise<string[]> {
  const faults: string[] = []
  let before: Typed | undefined
  for (const block of blocksOf(page).filter(isWanted)) {
    try {
      if (isTyped(block)) {
        const text = replaced.reduce((typed, [from, to]) => typed.replaceAll(from, to), block.text)
        before = await shell.type(text, block.words.includes(endless))
        checkOutcome(block, before)
      } else if (block.words[0] === 'answer' && before !== undefined) checkShown(block, before)
    } catch (error) {
      faults.push(String(error))
    }
  }
  return faults
}
