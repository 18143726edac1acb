import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPassword, verifierOf } from './scram-verifier.ts'

test('a verifier is the one of RFC 7677', async () => {
  // The example of RFC 7677, whose server signature follows from this server key: `pencil`, of 4096 iterations.
  assert.equal(
    await verifierOf('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')),
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  )
})

test('a password has 192 bits of plain characters, and each verifier its own salt', async () => {
  assert.match(newPassword(), /^[A-Za-z0-9_-]{32}$/)
  assert.notEqual(newPassword(), newPassword())
  assert.notEqual(await verifierOf('pencil'), await verifierOf('pencil'))
})
