import assert from 'node:assert/strict'
import type { Block } from './blocks.ts'
import type { Typed } from './shell.ts'

const isSuccess = (status: number) => status >= 200 && status < 300

/**
 * Checks that a block ended well, and that each of its calls was answered as the page says. The words of a block are the statuses of
 * the calls that are refused, in order; around the block the page names each with its code.
 */
export function checkOutcome({ place, words, said }: Block, { failed, output, calls }: Typed): void {
  assert.equal(failed, '', `${place}: ${failed}\n${output}`)
  const refused = calls.filter(({ status }) => !isSuccess(status))
  const expected = words.filter((word) => /^\d{3}$/.test(word))
  assert.deepEqual(
    refused.map(({ status }) => `${status}`),
    expected,
    `${place}: refused:\n${refused.map(({ command, status, body }) => `${command.split(' -H ', 1)[0]}: ${status} ${body}`).join('\n')}`,
  )
  for (const { status, body } of refused) {
    const { code, scimType = code } = JSON.parse(body)
    const named = `${status} \`${scimType}\``
    assert.ok(said.includes(named), `${place}: the page does not say “${named}” before or after the block`)
  }
  assert.doesNotMatch(
    output,
    /command not found|TypeError|ReferenceError|SyntaxError|\bundefined\b/,
    `${place}\n${output}`,
  )
}

/**
 * Checks what a page shows of what was printed: each field and line of it was there. `…` stands for anything. Of an `example`, texts
 * and numbers may be others.
 */
export function checkShown({ place, language, words, text }: Block, { output, calls }: Typed): void {
  if (language !== 'json') {
    for (const line of text.split('\n'))
      assert.match(output, pattern(line), `${place}: not printed: ${line}\n${output}`)
    return
  }
  const bodies = calls.map(({ body }) => body).filter((body) => body.startsWith('{'))
  const faults = bodies.map((body) => missing(JSON.parse(text), JSON.parse(body), words.includes('example')))
  assert.ok(
    faults.some((list) => list.length === 0),
    `${place}: no answer is as shown\n${JSON.stringify(faults)}\n${bodies.join('\n')}`,
  )
}

/** What of this value is not in that one, by its places. */
function missing(wanted: unknown, got: unknown, isExample: boolean, at = ''): string[] {
  if (typeof wanted !== 'object' || wanted === null) return isSame(wanted, got, isExample) ? [] : [at]
  if (typeof got !== 'object' || got === null) return [at]
  const entries = Object.entries(wanted).filter(([name]) => name !== '…')
  return entries.flatMap(([name, one]) =>
    missing(one, (got as Record<string, unknown>)[name], isExample, `${at}/${name}`),
  )
}

function isSame(wanted: unknown, got: unknown, isExample: boolean): boolean {
  if (isExample) return wanted === '…' || typeof wanted === typeof got
  if (typeof wanted !== 'string') return wanted === got
  return wanted === '…' || (typeof got === 'string' && whole(wanted).test(got))
}

const escaped = (text: string) => text.split('…').map(RegExp.escape).join('[^]*')
const pattern = (text: string) => new RegExp(escaped(text))
const whole = (text: string) => new RegExp(`^${escaped(text)}$`)
