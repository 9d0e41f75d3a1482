// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Keys of the address registry
/// @notice Each key is keccak256 of the part's name.
library AddressKeys {
    bytes32 internal constant SPLIT_ROUTER = keccak256("SPLIT_ROUTER");
    bytes32 internal constant REVIEW_REGISTRY = keccak256("REVIEW_REGISTRY");
    bytes32 internal constant IDENTITY_REGISTRY = keccak256("IDENTITY_REGISTRY");
    bytes32 internal constant MERCHANT_REGISTRY = keccak256("MERCHANT_REGISTRY");
    bytes32 internal constant COMMISSION_ESCROW = keccak256("COMMISSION_ESCROW");
    bytes32 internal constant USDC = keccak256("USDC");
    /// @dev Receives fees, and held-back commission of contradicted reviews.
    bytes32 internal constant TREASURY = keccak256("TREASURY");
}
