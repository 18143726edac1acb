import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { outcomeOf, type SmtpFault } from './smtp-outcome.ts'

/** Faults before any call of a mail server, and responses that no test server gives. */
suite('a fault', () => {
  const cases: [string, SmtpFault, object][] = [
    [
      'of an address that the library cannot encode is final',
      { code: 'EENVELOPE', command: 'API' },
      { kind: 'refused', why: 'this address cannot be written to' },
    ],
    [
      'of a mail that is longer than the server’s limit is final',
      { code: 'EMESSAGE', command: 'MAIL FROM' },
      { kind: 'refused', why: 'the mail server does not accept a mail of this size' },
    ],
    [
      'without an explanation causes a retry',
      {},
      { kind: 'try_again', why: 'the mail server cannot be reached (unknown reason)', holds_up: 'all' },
    ],
    [
      'with a response of several lines is read by the first, and quoted on one',
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
