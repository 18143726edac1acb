import { killAtCalls } from './killing.ts'

killAtCalls('postgresql')
