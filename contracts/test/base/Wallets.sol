// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @notice A contract wallet whose owner signs for it.
contract ContractWallet {
    /// @dev Not in storage, so that an account may delegate to this code and keep its owner.
    address public immutable OWNER;

    constructor(address owner) {
        OWNER = owner;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return ECDSA.recover(digest, signature) == OWNER ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @notice A contract wallet that burns whatever gas it is given to check a signature.
contract GreedyWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        while (gasleft() > 0) {}
        return this.isValidSignature.selector;
    }
}

/// @notice A contract wallet that accepts everything, after some gas of thought.
contract SlowWallet {
    uint256 private immutable THOUGHT;

    constructor(uint256 thought) {
        THOUGHT = thought;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 start = gasleft();
        while (start - gasleft() < THOUGHT) {}
        return this.isValidSignature.selector;
    }
}
