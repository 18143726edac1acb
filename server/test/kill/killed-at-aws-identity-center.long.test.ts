import { killAtCalls } from './killing.ts'

killAtCalls('aws-identity-center')
