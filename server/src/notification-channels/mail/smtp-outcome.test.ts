import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { outcomeOf, type SmtpFault } from './smtp-outcome.ts'

/** What a mail server was not even asked, and what none on this machine does; the rest is told by a real one. */
suite('a fault', () => {
  const cases: [string, SmtpFault, object][] = [
    [
      'of an address that the library cannot write is final',
      { code: 'EENVELOPE', command: 'API' },
      { kind: 'refused', why: 'this address cannot be written to' },
    ],
    [
      'of a mail that is longer than the server said that it takes is final',
      { code: 'EMESSAGE', command: 'MAIL FROM' },
      { kind: 'refused', why: 'the mail server does not accept a mail of this size' },
    ],
    [
      'that nobody explains is tried again',
      {},
      { kind: 'try_again', why: 'the mail server cannot be reached (unknown reason)', holds_up: 'all' },
    ],
    [
      'of an answer in several lines is read by its first, and kept in one',
      { command: 'RCPT TO', responseCode: 550, response: '550-5.7.1 not from\r\n550 5.7.1 your network' },
      {
        kind: 'try_again',
        why: 'the mail server does not accept the recipient now: 550-5.7.1 not from 550 5.7.1 your network',
        holds_up: 'all',
      },
    ],
  ]
  for (const [name, fault, outcome] of cases) test(name, () => assert.deepEqual(outcomeOf(fault, []), outcome))
})
