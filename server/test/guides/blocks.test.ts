import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { suite, test } from 'node:test'
import { faultsOf } from './against-document.ts'
import { type Block, blocksOf, pagesInOrder } from './blocks.ts'
import { endless, notTyped, typedLast } from './marks.ts'
import { shown } from './shown.ts'

const pages = pagesInOrder().map((page) => ({ page, name: basename(page), blocks: blocksOf(page) }))
const listOf = (isWanted: (block: Block, name: string) => boolean) =>
  pages.flatMap(({ name, blocks }) => blocks.filter((block) => isWanted(block, name)).map(({ place }) => place))

const marks = [...Object.keys(notTyped), typedLast, endless]
const isShell = ({ language }: Block) => language === 'sh'
const isMarked = ({ words }: Block) => words.some((word) => Object.hasOwn(notTyped, word))
const infoOf = ({ language, words }: Block) => [language, ...words].join(' ')
const isOfOperation = ({ language, words }: Block) => language === 'json' && /^[A-Z]+$/.test(words[0] ?? '')

suite('the blocks of the README and the guides', () => {
  test('each for a shell is typed, or has a mark with a reason', () => {
    const isKnown = (word: string) => marks.includes(word) || /^[45]\d\d$/.test(word)
    assert.deepEqual(
      listOf((block) => isShell(block) && !block.words.every(isKnown)),
      [],
    )
  })

  test('each other one is compared with something, or is listed with its reason', () => {
    const isChecked = (block: Block, name: string) =>
      isShell(block) ||
      isOfOperation(block) ||
      block.words[0] === 'answer' ||
      Object.hasOwn(shown, `${name} ${infoOf(block)}`)
    assert.deepEqual(
      listOf((block, name) => !isChecked(block, name)),
      [],
    )
  })

  test('no reason is left over', () => {
    const all = pages.flatMap(({ name, blocks }) => blocks.map((block) => `${name} ${infoOf(block)}`))
    const words = new Set(pages.flatMap(({ blocks }) => blocks.filter(isShell).flatMap((block) => block.words)))
    const unused = [
      ...Object.keys(shown).filter((one) => !all.includes(one)),
      ...marks.filter((mark) => !words.has(mark)),
    ]
    assert.deepEqual(unused, [])
  })

  test('an answer follows a block that is typed', () => {
    const isLost = (block: Block, index: number, all: Block[]) => {
      const before = all.slice(0, index).findLast((one) => one.words[0] !== 'answer')
      return block.words[0] === 'answer' && (before === undefined || !isShell(before) || isMarked(before))
    }
    assert.deepEqual(
      pages.flatMap(({ blocks }) => blocks.filter(isLost).map(({ place }) => place)),
      [],
    )
  })

  test('what is typed is whole, and has no comment: a shell on a Mac takes its words for arguments', () => {
    const isPart = (block: Block) => isShell(block) && !isMarked(block) && /…|<[a-z ]+>|(?:^|\s)#/m.test(block.text)
    assert.deepEqual(listOf(isPart), [])
  })

  test('JSON of an operation fits its schema', () => {
    const faults = pages.flatMap(({ blocks }) =>
      blocks.filter(isOfOperation).flatMap(({ place, words, text }) => {
        const [method = '', path = '', status] = words
        return faultsOf(method, path, status, JSON.parse(text)).map((fault) => `${place}: ${fault}`)
      }),
    )
    assert.deepEqual(faults, [])
  })

  test('variables and metrics are those of the reference', () => {
    const textOf = (name: string) =>
      readFileSync(new URL(`../../../docs/reference/${name}.md`, import.meta.url), 'utf8')
    const named = (language: string, pattern: RegExp) =>
      pages.flatMap(({ blocks }) =>
        blocks.filter((block) => block.language === language).flatMap(({ text }) => text.match(pattern) ?? []),
      )
    // A histogram has a series for its buckets.
    const metrics = named('yaml', /\bsallyport_\w+/g).map((name) => name.replace(/_bucket$/, ''))
    const [variables, known] = [named('env', /^\w+(?==)/gm), textOf('configuration') + textOf('metrics')]
    assert.ok(metrics.length > 20 && variables.length > 5)
    assert.deepEqual(
      [...metrics, ...variables].filter((name) => !known.includes(`\`${name}\``)),
      [],
    )
  })

  test('the message of a webhook fits its schema', () => {
    const message = blocksOf('docs/guides/webhook-channels.md').find(({ words }) => words[0] === 'message')
    assert.deepEqual(faultsOf('webhook', 'eventMessage', undefined, JSON.parse(message?.text ?? '')), [])
  })
})

test('each guide begins with what it is about, before its first block, table or section', () => {
  const isSilent = ({ page }: { page: string }) =>
    !/^# .+\n\n(?!The examples)[A-Z`][^|\n]/.test(readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8'))
  assert.deepEqual(
    pages.filter(isSilent).map(({ name }) => name),
    [],
  )
})
