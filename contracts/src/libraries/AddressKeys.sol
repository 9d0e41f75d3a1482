// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The names of the protocol's parts in the address registry
library AddressKeys {
    bytes32 internal constant SPLIT_ROUTER = keccak256("SPLIT_ROUTER");
    bytes32 internal constant REVIEW_REGISTRY = keccak256("REVIEW_REGISTRY");
    bytes32 internal constant IDENTITY_REGISTRY = keccak256("IDENTITY_REGISTRY");
    bytes32 internal constant MERCHANT_REGISTRY = keccak256("MERCHANT_REGISTRY");
    bytes32 internal constant COMMISSION_ESCROW = keccak256("COMMISSION_ESCROW");
    bytes32 internal constant USDC = keccak256("USDC");
    bytes32 internal constant TREASURY = keccak256("TREASURY");
}
