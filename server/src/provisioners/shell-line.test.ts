import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { suite, test } from 'node:test'
import { argumentsOf, trickyWords } from '../../test/support/shell.ts'
import { shellLine } from './shell-line.ts'

const shells = ['/bin/sh', '/bin/bash', '/bin/dash', '/bin/zsh'].filter((shell) => existsSync(shell))

suite('a line for a shell', () => {
  for (const shell of shells) {
    test(`gives ${shell} each word as it is, and nothing is run or expanded`, () => {
      for (const word of trickyWords) {
        assert.deepEqual(argumentsOf(shellLine(['psql', word, 'x']) ?? '', shell), ['psql', word, 'x'], word)
      }
    })
  }

  test('leaves usual words readable', () => {
    const words = ['aws', 's3', 'ls', 's3://reports/', '--profile', 'a_b.c-1@x', '--port=5432']
    assert.equal(shellLine(words), words.join(' '))
  })

  for (const word of [
    'a\nb',
    'a\rb',
    'a\0b',
    'a\u001b[31mb',
    'a\u0085b',
    'a\u2028b',
    'a\u202eb',
    'a\u2066b',
    'a\ud800b',
  ]) {
    test(`does not exist with ${JSON.stringify(word)}`, () => assert.equal(shellLine(['psql', word]), undefined))
  }
})
