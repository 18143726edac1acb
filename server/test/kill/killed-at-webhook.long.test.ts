import { killAtCalls } from './killing.ts'

killAtCalls('webhook')
