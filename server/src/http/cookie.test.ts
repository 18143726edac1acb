import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookiesOf } from './cookie.ts'

const name = '__Host-sallyport'

test('a cookie is found under exactly its name, as often as it was sent', () => {
  const headers: [header: string | undefined, values: string[]][] = [
    [undefined, []],
    ['', []],
    [`${name}=a`, ['a']],
    [`other=x; ${name}=a;\t${name}=b`, ['a', 'b']],
    [`${name}=a=b`, ['a=b']],
    [`x${name}=a; ${name}x=b; ${name.toLowerCase()}=c; ${name} =d; =${name}=e`, []],
  ]
  for (const [header, values] of headers) assert.deepEqual(cookiesOf(header, name), values, header)
})

test('a name after a blank that is neither space nor tab is another name, without the prefix of a browser (A16)', () => {
  for (const blank of ['\xa0', '\x85', '\ufeff', '\u2000', '\u3000', '\v', '\f']) {
    assert.deepEqual(cookiesOf(`${blank}${name}=planted; ${name}=own`, name), ['own'])
  }
})
