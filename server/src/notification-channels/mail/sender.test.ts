import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Sender, senderOf } from './sender.ts'

const ours = 'sallyport@example.com'
const instead = (reply_to: string): Sender => ({ from: ours, reply_to })
const itself = (from: string): Sender => ({ from, reply_to: undefined })

suite('a mail comes', () => {
  const cases: [string, string | undefined, string[], Sender][] = [
    ['from the installation where nobody is named', undefined, ['acme.example'], itself(ours)],
    ['from the installation where that is named', ours, [], itself(ours)],
    ['from the tenant where it may', 'access@acme.example', ['acme.example'], itself('access@acme.example')],
    ['from it in any spelling', 'access@ACME.example', ['acme.example'], itself('access@ACME.example')],
    ['from it in any script', 'a@bücher.example', ['xn--bcher-kva.example'], itself('a@bücher.example')],
    ['from nobody of a domain that nobody allowed', 'a@acme.example', [], instead('a@acme.example')],
    ['from nobody of a domain below', 'a@mail.acme.example', ['acme.example'], instead('a@mail.acme.example')],
    ['from nobody of a domain above', 'a@acme.example', ['mail.acme.example'], instead('a@acme.example')],
    ['from nobody of a longer name', 'a@notacme.example', ['acme.example'], instead('a@notacme.example')],
    ['from nobody of letters alike', 'a@\u0430cme.example', ['acme.example'], instead('a@\u0430cme.example')],
    ['from nobody else of our own domain', 'ceo@example.com', [], instead('ceo@example.com')],
  ]
  for (const [name, wanted, allowed, sender] of cases) {
    test(`${name} (J8)`, () => assert.deepEqual(senderOf(wanted, allowed, ours), sender))
  }
})
