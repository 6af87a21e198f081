#!/usr/bin/env -S node --no-node-snapshot
// isolated-vm needs a heap that was not restored from Node's start-up snapshot. Node 8 and later can read this file, so that it
// can say what is missing.
'use strict'
var wanted = 24
if (Number(process.versions.node.split('.')[0]) === wanted) {
  import('../sdk/cli/src/main.js')
} else {
  var message = 'AgentGym needs Node ' + wanted + '; this is Node ' + process.versions.node + '.'
  var hint = 'Install Node ' + wanted + ' (https://nodejs.org/en/download) and run the same command again.'
  if (process.argv.indexOf('--json') === -1) {
    process.stderr.write('Error: ' + message + '\n  ' + hint + '\n  setup_incomplete\n')
  } else {
    process.stdout.write(JSON.stringify({ error: { code: 'setup_incomplete', message: message, hint: hint } }) + '\n')
  }
  process.exitCode = 2
}
