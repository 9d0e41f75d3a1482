// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Signature check for accounts with a key, with code, or with both
library Signatures {
    /// @notice Whether `signer` signed `digest`: with its key, or by ERC-1271 if it is a contract.
    /// @dev The key is tried first, because an account that delegates to code (EIP-7702) has both a key and code.
    /// @param signer The account that must have signed
    /// @param digest The EIP-712 digest that was signed
    /// @param signature 65 bytes `r, s, v` of a key, or whatever the contract wallet accepts; any length
    /// @return Whether the signature is valid
    function isValid(address signer, bytes32 digest, bytes memory signature) internal view returns (bool) {
        (address recovered, ECDSA.RecoverError err,) = ECDSA.tryRecover(digest, signature);
        if (err == ECDSA.RecoverError.NoError && recovered == signer) return true;
        return SignatureChecker.isValidERC1271SignatureNow(signer, digest, signature);
    }
}
