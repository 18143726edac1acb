import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readUserAgent } from './user-agent.ts'

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0'

suite('a program that names itself', () => {
  const cases: [string, string | null, string | undefined][] = [
    ['Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox, Linux'],
    ['Chrome', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 'Chrome, Windows'],
    ['Edge', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/130.0`, 'Edge, Windows'],
    ['Chrome on a phone', `Mozilla/5.0 (Linux; Android 14) ${chrome} Mobile Safari/537.36`, 'Chrome, Android'],
    [
      'Safari',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15',
      'Safari, macOS',
    ],
    [
      'Safari on a phone',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1',
      'Safari, iPhone',
    ],
    ['a program', 'curl/8.9.1', 'curl'],
    ['a browser without a name', 'Mozilla/5.0 (X11; Linux x86_64)', undefined],
    ['nothing', '', undefined],
    ['nothing at all', null, undefined],
    ['markup', '<script>alert(1)</script>', undefined],
  ]
  for (const [name, text, read] of cases)
    test(`${name} is read as ${read ?? 'unknown'}`, () => {
      const named = readUserAgent(text)
      assert.equal(named && [named.program, named.system].filter(Boolean).join(', '), read)
    })
})
