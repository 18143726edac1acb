import { test } from 'node:test'
import { contend } from '../../test/support/lock-contenders.ts'

test('of four processes at once one is the owner, and its kill frees the folder: 400 rounds', (t) => contend(t, 400))
