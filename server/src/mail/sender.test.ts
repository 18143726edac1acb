import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Sender, senderOf } from './sender.ts'

const ours = 'sallyport@example.com'
const instead = (reply_to: string): Sender => ({ from: ours, reply_to })
const itself = (from: string): Sender => ({ from, reply_to: undefined })

suite('a mail comes', () => {
  const cases: [string, string | undefined, string[], Sender][] = [
    ['from the installation if no sender is named', undefined, ['acme.example'], itself(ours)],
    ['from the installation if its address is named', ours, [], itself(ours)],
    ['from the tenant on an allowed domain', 'access@acme.example', ['acme.example'], itself('access@acme.example')],
    ['from the tenant in any letter case', 'access@ACME.example', ['acme.example'], itself('access@ACME.example')],
    [
      'from the tenant on an internationalized domain',
      'a@bücher.example',
      ['xn--bcher-kva.example'],
      itself('a@bücher.example'),
    ],
    ['from the installation instead of a domain that is not allowed', 'a@acme.example', [], instead('a@acme.example')],
    [
      'from the installation instead of a subdomain of an allowed one',
      'a@mail.acme.example',
      ['acme.example'],
      instead('a@mail.acme.example'),
    ],
    [
      'from the installation instead of the parent of an allowed domain',
      'a@acme.example',
      ['mail.acme.example'],
      instead('a@acme.example'),
    ],
    [
      'from the installation instead of a longer domain',
      'a@notacme.example',
      ['acme.example'],
      instead('a@notacme.example'),
    ],
    [
      'from the installation instead of a domain of look-alike letters',
      'a@\u0430cme.example',
      ['acme.example'],
      instead('a@\u0430cme.example'),
    ],
    [
      'from the installation instead of another address of its domain',
      'ceo@example.com',
      [],
      instead('ceo@example.com'),
    ],
  ]
  for (const [name, wanted, allowed, sender] of cases) {
    test(`${name} (J8)`, () => assert.deepEqual(senderOf(wanted, allowed, ours), sender))
  }
})
