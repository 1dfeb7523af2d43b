// One call of WeCom's own crypto package: a JSON request on standard input, a JSON answer on output.
const { getSignature, encrypt, decrypt } = require("@wecom/crypto");

const { token, key, id, timestamp, nonce, message, sealed } = JSON.parse(require("fs").readFileSync(0));
const closed = sealed ?? encrypt(key, message, id);
const answer = { signature: getSignature(token, timestamp, nonce, closed), sealed: closed };
if (sealed) Object.assign(answer, decrypt(key, sealed));
process.stdout.write(JSON.stringify(answer));
