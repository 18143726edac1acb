import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { callerAddress, sourceOf } from './source.ts'

const cases: [string, string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['x'.repeat(10_000), 'unknown'],
  ['192.0.2.1:1234', 'unknown'],
]

for (const [address, source] of cases) {
  test(`counts \`${address.slice(0, 40)}\` as \`${source}\``, () => assert.equal(sourceOf(address), source))
}

const reported: [string, string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:1234', '192.0.2.1'],
  ['[2001:db8::1]:1234', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['unknown', '127.0.0.1'],
  ['<script>', '127.0.0.1'],
  ['999.0.2.1', '127.0.0.1'],
  ['', '127.0.0.1'],
]

for (const [ip, address] of reported) {
  test(`takes \`${ip}\`, as a proxy reports it, for ${address}`, () => {
    assert.equal(callerAddress({ ip, socket: { remoteAddress: '127.0.0.1' } as Socket }), address)
  })
}
